// Entry points that answer CUDA_ERROR_NOT_SUPPORTED, and why.
#include "runtime/host/driver/entry.hpp"

REFUSED(cuArray3DCreate, "its addresses have 32 bits: call the second version")
REFUSED(cuArray3DGetDescriptor, "its addresses have 32 bits: call the second version")
REFUSED(cuArrayCreate, "its addresses have 32 bits: call the second version")
REFUSED(cuArrayGetDescriptor, "its addresses have 32 bits: call the second version")
REFUSED(cuArrayGetMemoryRequirements, "arrays are not mapped to memory of the program")
REFUSED(cuArrayGetPlane, "arrays of several planes are not supported")
REFUSED(cuArrayGetSparseProperties, "sparse arrays are not supported")
REFUSED(cuDeviceGetTexture1DLinearMaxWidth, "the largest linear texture is not known here")
REFUSED(cuMemMapArrayAsync, "sparse arrays are not supported")
REFUSED(cuMemMapArrayAsync_ptsz, "sparse arrays are not supported")
REFUSED(cuMemcpyAtoA, "its addresses have 32 bits: call the second version")
REFUSED(cuMemcpyAtoD, "its addresses have 32 bits: call the second version")
REFUSED(cuMemcpyAtoH, "its addresses have 32 bits: call the second version")
REFUSED(cuMemcpyAtoHAsync, "its addresses have 32 bits: call the second version")
REFUSED(cuMemcpyDtoA, "its addresses have 32 bits: call the second version")
REFUSED(cuMemcpyHtoA, "its addresses have 32 bits: call the second version")
REFUSED(cuMemcpyHtoAAsync, "its addresses have 32 bits: call the second version")
REFUSED(cuMipmappedArrayGetMemoryRequirements, "arrays are not mapped to memory of the program")
REFUSED(cuMipmappedArrayGetSparseProperties, "sparse arrays are not supported")
REFUSED(cuModuleGetSurfRef, "surface references are not supported: create surface objects")
REFUSED(cuParamSetTexRef, "texture references are those of a module (cuModuleGetTexRef)")
REFUSED(cuSurfRefGetArray, "surface references are not supported: create surface objects")
REFUSED(cuSurfRefSetArray, "surface references are not supported: create surface objects")
REFUSED(cuTexObjectGetResourceViewDesc, "views of textures are not kept")
REFUSED(cuTexRefCreate, "texture references are those of a module (cuModuleGetTexRef)")
REFUSED(cuTexRefDestroy, "texture references are those of a module (cuModuleGetTexRef)")
REFUSED(cuTexRefGetAddress, "its addresses have 32 bits: call the second version")
REFUSED(cuTexRefGetBorderColor,
        "border colours of texture references are not supported: create texture objects")
REFUSED(cuTexRefSetAddress, "its addresses have 32 bits: call the second version")
REFUSED(cuTexRefSetAddress2D, "its addresses have 32 bits: call the second version")
REFUSED(cuTexRefSetBorderColor,
        "border colours of texture references are not supported: create texture objects")

REFUSED(cuCheckpointProcessCheckpoint, "states of the device are not saved")
REFUSED(cuCheckpointProcessGetRestoreThreadId, "states of the device are not saved")
REFUSED(cuCheckpointProcessGetState, "states of the device are not saved")
REFUSED(cuCheckpointProcessLock, "states of the device are not saved")
REFUSED(cuCheckpointProcessRestore, "states of the device are not saved")
REFUSED(cuCheckpointProcessUnlock, "states of the device are not saved")
REFUSED(cuCoredumpGetAttribute, "states of the device are not saved")
REFUSED(cuCoredumpGetAttributeGlobal, "states of the device are not saved")
REFUSED(cuCoredumpSetAttribute, "states of the device are not saved")
REFUSED(cuCoredumpSetAttributeGlobal, "states of the device are not saved")

REFUSED(cuCtxFromGreenCtx, "a context has the whole device")
REFUSED(cuCtxGetDevResource, "a context has the whole device")
REFUSED(cuCtxGetExecAffinity, "a context has the whole device")
REFUSED(cuDevResourceGenerateDesc, "a context has the whole device")
REFUSED(cuDevSmResourceSplitByCount, "a context has the whole device")
REFUSED(cuDeviceGetDevResource, "a context has the whole device")
REFUSED(cuGreenCtxCreate, "a context has the whole device")
REFUSED(cuGreenCtxDestroy, "a context has the whole device")
REFUSED(cuGreenCtxGetDevResource, "a context has the whole device")
REFUSED(cuGreenCtxGetId, "a context has the whole device")
REFUSED(cuGreenCtxRecordEvent, "a context has the whole device")
REFUSED(cuGreenCtxStreamCreate, "a context has the whole device")
REFUSED(cuGreenCtxWaitEvent, "a context has the whole device")
REFUSED(cuStreamGetGreenCtx, "a context has the whole device")

REFUSED(cuDestroyExternalMemory, "memory and semaphores of other APIs cannot be imported")
REFUSED(cuDestroyExternalSemaphore, "memory and semaphores of other APIs cannot be imported")
REFUSED(cuDeviceGetNvSciSyncAttributes, "memory and semaphores of other APIs cannot be imported")
REFUSED(cuExternalMemoryGetMappedBuffer, "memory and semaphores of other APIs cannot be imported")
REFUSED(cuExternalMemoryGetMappedMipmappedArray,
        "memory and semaphores of other APIs cannot be imported")
REFUSED(cuGraphAddExternalSemaphoresSignalNode,
        "memory and semaphores of other APIs cannot be imported")
REFUSED(cuGraphAddExternalSemaphoresWaitNode,
        "memory and semaphores of other APIs cannot be imported")
REFUSED(cuGraphExecExternalSemaphoresSignalNodeSetParams,
        "memory and semaphores of other APIs cannot be imported")
REFUSED(cuGraphExecExternalSemaphoresWaitNodeSetParams,
        "memory and semaphores of other APIs cannot be imported")
REFUSED(cuGraphExternalSemaphoresSignalNodeGetParams,
        "memory and semaphores of other APIs cannot be imported")
REFUSED(cuGraphExternalSemaphoresSignalNodeSetParams,
        "memory and semaphores of other APIs cannot be imported")
REFUSED(cuGraphExternalSemaphoresWaitNodeGetParams,
        "memory and semaphores of other APIs cannot be imported")
REFUSED(cuGraphExternalSemaphoresWaitNodeSetParams,
        "memory and semaphores of other APIs cannot be imported")
REFUSED(cuImportExternalMemory, "memory and semaphores of other APIs cannot be imported")
REFUSED(cuImportExternalSemaphore, "memory and semaphores of other APIs cannot be imported")
REFUSED(cuSignalExternalSemaphoresAsync, "memory and semaphores of other APIs cannot be imported")
REFUSED(cuSignalExternalSemaphoresAsync_ptsz,
        "memory and semaphores of other APIs cannot be imported")
REFUSED(cuWaitExternalSemaphoresAsync, "memory and semaphores of other APIs cannot be imported")
REFUSED(cuWaitExternalSemaphoresAsync_ptsz,
        "memory and semaphores of other APIs cannot be imported")

REFUSED(cuDeviceGetHostAtomicCapabilities, "what links of devices can do is not known here")
REFUSED(cuDeviceGetP2PAtomicCapabilities, "what links of devices can do is not known here")
REFUSED(cuLaunchCooperativeKernelMultiDevice, "it was removed from CUDA")
REFUSED(cuMulticastAddDevice, "no memory is shared by multicast here")
REFUSED(cuMulticastBindAddr, "no memory is shared by multicast here")
REFUSED(cuMulticastBindMem, "no memory is shared by multicast here")
REFUSED(cuMulticastCreate, "no memory is shared by multicast here")
REFUSED(cuMulticastGetGranularity, "no memory is shared by multicast here")
REFUSED(cuMulticastUnbind, "no memory is shared by multicast here")

REFUSED(cuDeviceRegisterAsyncNotification, "there is no log of the driver")
REFUSED(cuDeviceUnregisterAsyncNotification, "there is no log of the driver")
REFUSED(cuLogsCurrent, "there is no log of the driver")
REFUSED(cuLogsDumpToFile, "there is no log of the driver")
REFUSED(cuLogsDumpToMemory, "there is no log of the driver")
REFUSED(cuLogsRegisterCallback, "there is no log of the driver")
REFUSED(cuLogsUnregisterCallback, "there is no log of the driver")

REFUSED(cuDeviceTotalMem, "its addresses have 32 bits: call the second version")
REFUSED(cuMemAlloc, "its addresses have 32 bits: call the second version")
REFUSED(cuMemAllocHost, "its addresses have 32 bits: call the second version")
REFUSED(cuMemAllocPitch, "its addresses have 32 bits: call the second version")
REFUSED(cuMemFree, "its addresses have 32 bits: call the second version")
REFUSED(cuMemGetAddressRange, "its addresses have 32 bits: call the second version")
REFUSED(cuMemGetInfo, "its addresses have 32 bits: call the second version")
REFUSED(cuMemHostGetDevicePointer, "its addresses have 32 bits: call the second version")
REFUSED(cuMemcpy2D, "its addresses have 32 bits: call the second version")
REFUSED(cuMemcpy2DAsync, "its addresses have 32 bits: call the second version")
REFUSED(cuMemcpy2DUnaligned, "its addresses have 32 bits: call the second version")
REFUSED(cuMemcpy3D, "its addresses have 32 bits: call the second version")
REFUSED(cuMemcpy3DAsync, "its addresses have 32 bits: call the second version")
REFUSED(cuMemcpyDtoD, "its addresses have 32 bits: call the second version")
REFUSED(cuMemcpyDtoDAsync, "its addresses have 32 bits: call the second version")
REFUSED(cuMemcpyDtoH, "its addresses have 32 bits: call the second version")
REFUSED(cuMemcpyDtoHAsync, "its addresses have 32 bits: call the second version")
REFUSED(cuMemcpyHtoD, "its addresses have 32 bits: call the second version")
REFUSED(cuMemcpyHtoDAsync, "its addresses have 32 bits: call the second version")
REFUSED(cuMemsetD16, "its addresses have 32 bits: call the second version")
REFUSED(cuMemsetD2D16, "its addresses have 32 bits: call the second version")
REFUSED(cuMemsetD2D32, "its addresses have 32 bits: call the second version")
REFUSED(cuMemsetD2D8, "its addresses have 32 bits: call the second version")
REFUSED(cuMemsetD32, "its addresses have 32 bits: call the second version")
REFUSED(cuMemsetD8, "its addresses have 32 bits: call the second version")
REFUSED(cuModuleGetGlobal, "its addresses have 32 bits: call the second version")

REFUSED(cuEGLStreamConsumerAcquireFrame, "no graphics API shares memory with programs here")
REFUSED(cuEGLStreamConsumerConnect, "no graphics API shares memory with programs here")
REFUSED(cuEGLStreamConsumerConnectWithFlags, "no graphics API shares memory with programs here")
REFUSED(cuEGLStreamConsumerDisconnect, "no graphics API shares memory with programs here")
REFUSED(cuEGLStreamConsumerReleaseFrame, "no graphics API shares memory with programs here")
REFUSED(cuEGLStreamProducerConnect, "no graphics API shares memory with programs here")
REFUSED(cuEGLStreamProducerDisconnect, "no graphics API shares memory with programs here")
REFUSED(cuEGLStreamProducerPresentFrame, "no graphics API shares memory with programs here")
REFUSED(cuEGLStreamProducerReturnFrame, "no graphics API shares memory with programs here")
REFUSED(cuGLCtxCreate, "no graphics API shares memory with programs here")
REFUSED(cuGLCtxCreate_v2, "no graphics API shares memory with programs here")
REFUSED(cuGLGetDevices, "no graphics API shares memory with programs here")
REFUSED(cuGLGetDevices_v2, "no graphics API shares memory with programs here")
REFUSED(cuGLInit, "no graphics API shares memory with programs here")
REFUSED(cuGLMapBufferObject, "no graphics API shares memory with programs here")
REFUSED(cuGLMapBufferObjectAsync, "no graphics API shares memory with programs here")
REFUSED(cuGLMapBufferObjectAsync_v2, "no graphics API shares memory with programs here")
REFUSED(cuGLMapBufferObjectAsync_v2_ptsz, "no graphics API shares memory with programs here")
REFUSED(cuGLMapBufferObject_v2, "no graphics API shares memory with programs here")
REFUSED(cuGLMapBufferObject_v2_ptds, "no graphics API shares memory with programs here")
REFUSED(cuGLRegisterBufferObject, "no graphics API shares memory with programs here")
REFUSED(cuGLSetBufferObjectMapFlags, "no graphics API shares memory with programs here")
REFUSED(cuGLUnmapBufferObject, "no graphics API shares memory with programs here")
REFUSED(cuGLUnmapBufferObjectAsync, "no graphics API shares memory with programs here")
REFUSED(cuGLUnregisterBufferObject, "no graphics API shares memory with programs here")
REFUSED(cuGraphicsEGLRegisterImage, "no graphics API shares memory with programs here")
REFUSED(cuGraphicsGLRegisterBuffer, "no graphics API shares memory with programs here")
REFUSED(cuGraphicsGLRegisterImage, "no graphics API shares memory with programs here")
REFUSED(cuGraphicsMapResources, "no graphics API shares memory with programs here")
REFUSED(cuGraphicsMapResources_ptsz, "no graphics API shares memory with programs here")
REFUSED(cuGraphicsResourceGetMappedEglFrame, "no graphics API shares memory with programs here")
REFUSED(cuGraphicsResourceGetMappedMipmappedArray,
        "no graphics API shares memory with programs here")
REFUSED(cuGraphicsResourceGetMappedPointer, "no graphics API shares memory with programs here")
REFUSED(cuGraphicsResourceGetMappedPointer_v2, "no graphics API shares memory with programs here")
REFUSED(cuGraphicsResourceSetMapFlags, "no graphics API shares memory with programs here")
REFUSED(cuGraphicsResourceSetMapFlags_v2, "no graphics API shares memory with programs here")
REFUSED(cuGraphicsSubResourceGetMappedArray, "no graphics API shares memory with programs here")
REFUSED(cuGraphicsUnmapResources, "no graphics API shares memory with programs here")
REFUSED(cuGraphicsUnmapResources_ptsz, "no graphics API shares memory with programs here")
REFUSED(cuGraphicsUnregisterResource, "no graphics API shares memory with programs here")
REFUSED(cuGraphicsVDPAURegisterOutputSurface, "no graphics API shares memory with programs here")
REFUSED(cuGraphicsVDPAURegisterVideoSurface, "no graphics API shares memory with programs here")
REFUSED(cuVDPAUCtxCreate, "no graphics API shares memory with programs here")
REFUSED(cuVDPAUCtxCreate_v2, "no graphics API shares memory with programs here")
REFUSED(cuVDPAUGetDevice, "no graphics API shares memory with programs here")

REFUSED(cuGetExportTable, "tables of the driver that no document describes are not given")

REFUSED(cuGraphAddBatchMemOpNode,
        "streams share one queue, in which waiting for a value could wait for itself")
REFUSED(cuGraphBatchMemOpNodeGetParams,
        "streams share one queue, in which waiting for a value could wait for itself")
REFUSED(cuGraphBatchMemOpNodeSetParams,
        "streams share one queue, in which waiting for a value could wait for itself")
REFUSED(cuGraphExecBatchMemOpNodeSetParams,
        "streams share one queue, in which waiting for a value could wait for itself")
REFUSED(cuStreamBatchMemOp,
        "streams share one queue, in which waiting for a value could wait for itself")
REFUSED(cuStreamBatchMemOp_ptsz,
        "streams share one queue, in which waiting for a value could wait for itself")
REFUSED(cuStreamBatchMemOp_v2,
        "streams share one queue, in which waiting for a value could wait for itself")
REFUSED(cuStreamBatchMemOp_v2_ptsz,
        "streams share one queue, in which waiting for a value could wait for itself")
REFUSED(cuStreamWaitValue32,
        "streams share one queue, in which waiting for a value could wait for itself")
REFUSED(cuStreamWaitValue32_ptsz,
        "streams share one queue, in which waiting for a value could wait for itself")
REFUSED(cuStreamWaitValue32_v2,
        "streams share one queue, in which waiting for a value could wait for itself")
REFUSED(cuStreamWaitValue32_v2_ptsz,
        "streams share one queue, in which waiting for a value could wait for itself")
REFUSED(cuStreamWaitValue64,
        "streams share one queue, in which waiting for a value could wait for itself")
REFUSED(cuStreamWaitValue64_ptsz,
        "streams share one queue, in which waiting for a value could wait for itself")
REFUSED(cuStreamWaitValue64_v2,
        "streams share one queue, in which waiting for a value could wait for itself")
REFUSED(cuStreamWaitValue64_v2_ptsz,
        "streams share one queue, in which waiting for a value could wait for itself")

REFUSED(cuGraphAddNode, "the calls for one kind of node each are supported")
REFUSED(cuGraphAddNode_v2, "the calls for one kind of node each are supported")
REFUSED(cuGraphExecNodeSetParams, "the calls for one kind of node each are supported")
REFUSED(cuGraphNodeSetParams, "the calls for one kind of node each are supported")

REFUSED(cuGraphConditionalHandleCreate, "conditional nodes are decided by device code")

REFUSED(cuGraphDebugDotPrint, "graphs are not drawn")

REFUSED(cuGraphKernelNodeCopyAttributes, "attributes of graph nodes are not kept")
REFUSED(cuGraphKernelNodeGetAttribute, "attributes of graph nodes are not kept")
REFUSED(cuGraphKernelNodeSetAttribute, "attributes of graph nodes are not kept")

REFUSED(cuGraphReleaseUserObject, "graphs keep no objects of the program")
REFUSED(cuGraphRetainUserObject, "graphs keep no objects of the program")
REFUSED(cuUserObjectCreate, "graphs keep no objects of the program")
REFUSED(cuUserObjectRelease, "graphs keep no objects of the program")
REFUSED(cuUserObjectRetain, "graphs keep no objects of the program")

REFUSED(cuIpcCloseMemHandle, "no process shares memory with another here")
REFUSED(cuIpcGetEventHandle, "no process shares memory with another here")
REFUSED(cuIpcGetMemHandle, "no process shares memory with another here")
REFUSED(cuIpcOpenEventHandle, "no process shares memory with another here")
REFUSED(cuIpcOpenMemHandle, "no process shares memory with another here")
REFUSED(cuIpcOpenMemHandle_v2, "no process shares memory with another here")
REFUSED(cuMemExportToShareableHandle, "no process shares memory with another here")
REFUSED(cuMemGetHandleForAddressRange, "no process shares memory with another here")
REFUSED(cuMemImportFromShareableHandle, "no process shares memory with another here")
REFUSED(cuMemPoolExportPointer, "no process shares memory with another here")
REFUSED(cuMemPoolExportToShareableHandle, "no process shares memory with another here")
REFUSED(cuMemPoolImportFromShareableHandle, "no process shares memory with another here")
REFUSED(cuMemPoolImportPointer, "no process shares memory with another here")

REFUSED(cuLibraryGetUnifiedFunction, "unified function tables are not supported")

REFUSED(cuMemBatchDecompressAsync,
        "copies and hints of several ranges in one call are not supported")
REFUSED(cuMemBatchDecompressAsync_ptsz,
        "copies and hints of several ranges in one call are not supported")
REFUSED(cuMemDiscardAndPrefetchBatchAsync,
        "copies and hints of several ranges in one call are not supported")
REFUSED(cuMemDiscardAndPrefetchBatchAsync_ptsz,
        "copies and hints of several ranges in one call are not supported")
REFUSED(cuMemDiscardBatchAsync, "copies and hints of several ranges in one call are not supported")
REFUSED(cuMemDiscardBatchAsync_ptsz,
        "copies and hints of several ranges in one call are not supported")
REFUSED(cuMemPrefetchBatchAsync, "copies and hints of several ranges in one call are not supported")
REFUSED(cuMemPrefetchBatchAsync_ptsz,
        "copies and hints of several ranges in one call are not supported")
REFUSED(cuMemcpy3DBatchAsync, "copies and hints of several ranges in one call are not supported")
REFUSED(cuMemcpy3DBatchAsync_ptsz,
        "copies and hints of several ranges in one call are not supported")
REFUSED(cuMemcpy3DBatchAsync_v2, "copies and hints of several ranges in one call are not supported")
REFUSED(cuMemcpy3DBatchAsync_v2_ptsz,
        "copies and hints of several ranges in one call are not supported")
REFUSED(cuMemcpyBatchAsync, "copies and hints of several ranges in one call are not supported")
REFUSED(cuMemcpyBatchAsync_ptsz, "copies and hints of several ranges in one call are not supported")
REFUSED(cuMemcpyBatchAsync_v2, "copies and hints of several ranges in one call are not supported")
REFUSED(cuMemcpyBatchAsync_v2_ptsz,
        "copies and hints of several ranges in one call are not supported")

REFUSED(cuMemGetDefaultMemPool, "memory pools of other kinds are not supported")
REFUSED(cuMemGetMemPool, "memory pools of other kinds are not supported")
REFUSED(cuMemSetMemPool, "memory pools of other kinds are not supported")

REFUSED(cuMemRangeGetAttribute, "advice for managed memory is not kept")
REFUSED(cuMemRangeGetAttributes, "advice for managed memory is not kept")

REFUSED(cuProfilerInitialize, "it was removed from CUDA")

REFUSED(cuTensorMapEncodeIm2col, "copies of tensors by descriptors are not supported")
REFUSED(cuTensorMapEncodeIm2colWide, "copies of tensors by descriptors are not supported")
REFUSED(cuTensorMapEncodeTiled, "copies of tensors by descriptors are not supported")
REFUSED(cuTensorMapReplaceAddress, "copies of tensors by descriptors are not supported")
