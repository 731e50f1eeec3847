// Entry points that answer cudaErrorNotSupported, and why.
#include "runtime/host/cuda/entry.hpp"

using namespace lanewise::cuda;

REFUSED(cudaArrayGetMemoryRequirements, "arrays are not mapped to memory of the program")
REFUSED(cudaArrayGetPlane, "arrays of several planes are not supported")
REFUSED(cudaArrayGetSparseProperties, "sparse arrays are not supported")
REFUSED(cudaExternalMemoryGetMappedMipmappedArray,
        "no graphics API shares memory with programs here")
REFUSED(cudaGetTextureObjectResourceViewDesc, "views of textures are not kept")
REFUSED(cudaGraphicsResourceGetMappedMipmappedArray,
        "no graphics API shares memory with programs here")
REFUSED(cudaGraphicsVDPAURegisterOutputSurface, "no graphics API shares memory with programs here")
REFUSED(cudaGraphicsVDPAURegisterVideoSurface, "no graphics API shares memory with programs here")
REFUSED(cudaMipmappedArrayGetMemoryRequirements, "arrays are not mapped to memory of the program")
REFUSED(cudaMipmappedArrayGetSparseProperties, "sparse arrays are not supported")

REFUSED(cudaEGLStreamConsumerAcquireFrame, "no graphics API shares memory with programs here")
REFUSED(cudaEGLStreamConsumerConnect, "no graphics API shares memory with programs here")
REFUSED(cudaEGLStreamConsumerConnectWithFlags, "no graphics API shares memory with programs here")
REFUSED(cudaEGLStreamConsumerDisconnect, "no graphics API shares memory with programs here")
REFUSED(cudaEGLStreamConsumerReleaseFrame, "no graphics API shares memory with programs here")
REFUSED(cudaEGLStreamProducerConnect, "no graphics API shares memory with programs here")
REFUSED(cudaEGLStreamProducerDisconnect, "no graphics API shares memory with programs here")
REFUSED(cudaEGLStreamProducerPresentFrame, "no graphics API shares memory with programs here")
REFUSED(cudaEGLStreamProducerReturnFrame, "no graphics API shares memory with programs here")
REFUSED(cudaEventCreateFromEGLSync, "no graphics API shares memory with programs here")
REFUSED(cudaGLGetDevices, "no graphics API shares memory with programs here")
REFUSED(cudaGLMapBufferObject, "no graphics API shares memory with programs here")
REFUSED(cudaGLMapBufferObjectAsync, "no graphics API shares memory with programs here")
REFUSED(cudaGLRegisterBufferObject, "no graphics API shares memory with programs here")
REFUSED(cudaGLSetBufferObjectMapFlags, "no graphics API shares memory with programs here")
REFUSED(cudaGLSetGLDevice, "no graphics API shares memory with programs here")
REFUSED(cudaGLUnmapBufferObject, "no graphics API shares memory with programs here")
REFUSED(cudaGLUnmapBufferObjectAsync, "no graphics API shares memory with programs here")
REFUSED(cudaGLUnregisterBufferObject, "no graphics API shares memory with programs here")
REFUSED(cudaGraphicsEGLRegisterImage, "no graphics API shares memory with programs here")
REFUSED(cudaGraphicsGLRegisterBuffer, "no graphics API shares memory with programs here")
REFUSED(cudaGraphicsGLRegisterImage, "no graphics API shares memory with programs here")
REFUSED(cudaGraphicsMapResources, "no graphics API shares memory with programs here")
REFUSED(cudaGraphicsResourceGetMappedEglFrame, "no graphics API shares memory with programs here")
REFUSED(cudaGraphicsResourceGetMappedPointer, "no graphics API shares memory with programs here")
REFUSED(cudaGraphicsResourceSetMapFlags, "no graphics API shares memory with programs here")
REFUSED(cudaGraphicsSubResourceGetMappedArray, "no graphics API shares memory with programs here")
REFUSED(cudaGraphicsUnmapResources, "no graphics API shares memory with programs here")
REFUSED(cudaGraphicsUnregisterResource, "no graphics API shares memory with programs here")
REFUSED(cudaVDPAUGetDevice, "no graphics API shares memory with programs here")
REFUSED(cudaVDPAUSetVDPAUDevice, "no graphics API shares memory with programs here")

REFUSED(cudaDestroyExternalMemory, "memory and semaphores of other APIs cannot be imported")
REFUSED(cudaDestroyExternalSemaphore, "memory and semaphores of other APIs cannot be imported")
REFUSED(cudaDeviceGetNvSciSyncAttributes, "memory and semaphores of other APIs cannot be imported")
REFUSED(cudaExternalMemoryGetMappedBuffer, "memory and semaphores of other APIs cannot be imported")
REFUSED(cudaGraphAddExternalSemaphoresSignalNode,
        "memory and semaphores of other APIs cannot be imported")
REFUSED(cudaGraphAddExternalSemaphoresWaitNode,
        "memory and semaphores of other APIs cannot be imported")
REFUSED(cudaGraphExecExternalSemaphoresSignalNodeSetParams,
        "memory and semaphores of other APIs cannot be imported")
REFUSED(cudaGraphExecExternalSemaphoresWaitNodeSetParams,
        "memory and semaphores of other APIs cannot be imported")
REFUSED(cudaGraphExternalSemaphoresSignalNodeGetParams,
        "memory and semaphores of other APIs cannot be imported")
REFUSED(cudaGraphExternalSemaphoresSignalNodeSetParams,
        "memory and semaphores of other APIs cannot be imported")
REFUSED(cudaGraphExternalSemaphoresWaitNodeGetParams,
        "memory and semaphores of other APIs cannot be imported")
REFUSED(cudaGraphExternalSemaphoresWaitNodeSetParams,
        "memory and semaphores of other APIs cannot be imported")
REFUSED(cudaImportExternalMemory, "memory and semaphores of other APIs cannot be imported")
REFUSED(cudaImportExternalSemaphore, "memory and semaphores of other APIs cannot be imported")
REFUSED(cudaSignalExternalSemaphoresAsync, "memory and semaphores of other APIs cannot be imported")
REFUSED(cudaSignalExternalSemaphoresAsync_ptsz,
        "memory and semaphores of other APIs cannot be imported")
REFUSED(cudaSignalExternalSemaphoresAsync_v2,
        "memory and semaphores of other APIs cannot be imported")
REFUSED(cudaSignalExternalSemaphoresAsync_v2_ptsz,
        "memory and semaphores of other APIs cannot be imported")
REFUSED(cudaWaitExternalSemaphoresAsync, "memory and semaphores of other APIs cannot be imported")
REFUSED(cudaWaitExternalSemaphoresAsync_ptsz,
        "memory and semaphores of other APIs cannot be imported")
REFUSED(cudaWaitExternalSemaphoresAsync_v2,
        "memory and semaphores of other APIs cannot be imported")
REFUSED(cudaWaitExternalSemaphoresAsync_v2_ptsz,
        "memory and semaphores of other APIs cannot be imported")

REFUSED(cudaIpcCloseMemHandle, "no process shares memory with another here")
REFUSED(cudaIpcGetEventHandle, "no process shares memory with another here")
REFUSED(cudaIpcGetMemHandle, "no process shares memory with another here")
REFUSED(cudaIpcOpenEventHandle, "no process shares memory with another here")
REFUSED(cudaIpcOpenMemHandle, "no process shares memory with another here")
REFUSED(cudaMemPoolExportPointer, "no process shares memory with another here")
REFUSED(cudaMemPoolExportToShareableHandle, "no process shares memory with another here")
REFUSED(cudaMemPoolImportFromShareableHandle, "no process shares memory with another here")
REFUSED(cudaMemPoolImportPointer, "no process shares memory with another here")

REFUSED(__cudaGetProcAddress, "tables of the driver cannot be asked for")
REFUSED(cudaGetExportTable, "tables of the driver cannot be asked for")

REFUSED(cudaLibraryGetUnifiedFunction, "unified function tables are not supported")

REFUSED(cudaMemDiscardAndPrefetchBatchAsync,
        "copies and hints of several ranges in one call are not supported")
REFUSED(cudaMemDiscardAndPrefetchBatchAsync_ptsz,
        "copies and hints of several ranges in one call are not supported")
REFUSED(cudaMemDiscardBatchAsync,
        "copies and hints of several ranges in one call are not supported")
REFUSED(cudaMemDiscardBatchAsync_ptsz,
        "copies and hints of several ranges in one call are not supported")
REFUSED(cudaMemPrefetchBatchAsync,
        "copies and hints of several ranges in one call are not supported")
REFUSED(cudaMemPrefetchBatchAsync_ptsz,
        "copies and hints of several ranges in one call are not supported")
REFUSED(cudaMemcpy3DBatchAsync, "copies and hints of several ranges in one call are not supported")
REFUSED(cudaMemcpy3DBatchAsync_ptsz,
        "copies and hints of several ranges in one call are not supported")
REFUSED(cudaMemcpyBatchAsync, "copies and hints of several ranges in one call are not supported")
REFUSED(cudaMemcpyBatchAsync_ptsz,
        "copies and hints of several ranges in one call are not supported")

REFUSED(cudaDeviceRegisterAsyncNotification, "there is no log of the driver")
REFUSED(cudaDeviceUnregisterAsyncNotification, "there is no log of the driver")
REFUSED(cudaLogsCurrent, "there is no log of the driver")
REFUSED(cudaLogsDumpToFile, "there is no log of the driver")
REFUSED(cudaLogsDumpToMemory, "there is no log of the driver")
REFUSED(cudaLogsRegisterCallback, "there is no log of the driver")
REFUSED(cudaLogsUnregisterCallback, "there is no log of the driver")

REFUSED(cudaDeviceGetHostAtomicCapabilities, "what links of devices can do is not known here")
REFUSED(cudaDeviceGetP2PAtomicCapabilities, "what links of devices can do is not known here")
REFUSED(cudaLaunchCooperativeKernelMultiDevice, "it was removed from CUDA")

REFUSED(cudaMemcpyArrayToArray, "it was removed from CUDA")
REFUSED(cudaMemcpyArrayToArray_ptds, "it was removed from CUDA")
REFUSED(cudaMemcpyFromArrayAsync, "it was removed from CUDA")
REFUSED(cudaMemcpyFromArrayAsync_ptsz, "it was removed from CUDA")
REFUSED(cudaMemcpyToArrayAsync, "it was removed from CUDA")
REFUSED(cudaMemcpyToArrayAsync_ptsz, "it was removed from CUDA")
REFUSED(cudaProfilerInitialize, "it was removed from CUDA")
REFUSED(cudaSetDoubleForDevice, "it was removed from CUDA")
REFUSED(cudaSetDoubleForHost, "it was removed from CUDA")

REFUSED(cudaGraphKernelNodeCopyAttributes, "attributes of graph nodes are not kept")
REFUSED(cudaGraphKernelNodeGetAttribute, "attributes of graph nodes are not kept")
REFUSED(cudaGraphKernelNodeSetAttribute, "attributes of graph nodes are not kept")

REFUSED(cudaGraphExecMemcpyNodeSetParamsFromSymbol, "change the node to one of plain addresses")
REFUSED(cudaGraphExecMemcpyNodeSetParamsToSymbol, "change the node to one of plain addresses")
REFUSED(cudaGraphMemcpyNodeSetParamsFromSymbol, "change the node to one of plain addresses")
REFUSED(cudaGraphMemcpyNodeSetParamsToSymbol, "change the node to one of plain addresses")

REFUSED(cudaMemGetDefaultMemPool, "memory pools of other kinds are not supported")
REFUSED(cudaMemGetMemPool, "memory pools of other kinds are not supported")
REFUSED(cudaMemSetMemPool, "memory pools of other kinds are not supported")

REFUSED(cudaMemRangeGetAttribute, "advice for managed memory is not kept")
REFUSED(cudaMemRangeGetAttributes, "advice for managed memory is not kept")

REFUSED(cudaFuncGetParamInfo, "offsets of parameters are not given")
