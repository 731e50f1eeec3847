; Vectors in registers, indexed by numbers of the launch and by numbers of each lane:
;   llc -mtriple=amdgcn-amd-amdhsa -mcpu=gfx803 -amdgpu-vgpr-index-mode
;       -amdgpu-use-divergent-register-indexing index_mode.ll
declare i32 @llvm.amdgcn.workitem.id.x()

; v = in[id]; v[a] += 1000; out[id] = 3 * v[b] + v[c], v[c] as a word of the pairs at in.
define amdgpu_kernel void @uniform(i32 addrspace(1)* %out, <16 x i32> addrspace(1)* %in, i32 %a, i32 %b, i32 %c) {
  %id = call i32 @llvm.amdgcn.workitem.id.x()
  %p = getelementptr <16 x i32>, <16 x i32> addrspace(1)* %in, i32 %id
  %v = load <16 x i32>, <16 x i32> addrspace(1)* %p
  %x = extractelement <16 x i32> %v, i32 %a
  %x1 = add i32 %x, 1000
  %v1 = insertelement <16 x i32> %v, i32 %x1, i32 %a
  %y = extractelement <16 x i32> %v1, i32 %b
  %w = bitcast <16 x i32> %v1 to <8 x i64>
  %z = extractelement <8 x i64> %w, i32 %c
  %zh = lshr i64 %z, 32
  %zx = xor i64 %z, %zh
  %zt = trunc i64 %zx to i32
  %y3 = mul i32 %y, 3
  %s = add i32 %y3, %zt
  %o = getelementptr i32, i32 addrspace(1)* %out, i32 %id
  store i32 %s, i32 addrspace(1)* %o
  ret void
}

; The sum over that many turns of v[(which[id] + i) & 15], which is incremented where it was read.
define amdgpu_kernel void @lanes(i32 addrspace(1)* %out, <16 x i32> addrspace(1)* %in, i32 addrspace(1)* %which, i32 %turns) {
entry:
  %id = call i32 @llvm.amdgcn.workitem.id.x()
  %p = getelementptr <16 x i32>, <16 x i32> addrspace(1)* %in, i32 %id
  %v = load <16 x i32>, <16 x i32> addrspace(1)* %p
  %wp = getelementptr i32, i32 addrspace(1)* %which, i32 %id
  %d = load i32, i32 addrspace(1)* %wp
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i1, %loop ]
  %sum = phi i32 [ 0, %entry ], [ %sum1, %loop ]
  %vec = phi <16 x i32> [ %v, %entry ], [ %vec1, %loop ]
  %t = add i32 %d, %i
  %at = and i32 %t, 15
  %x = extractelement <16 x i32> %vec, i32 %at
  %sum3 = mul i32 %sum, 3
  %sum1 = add i32 %sum3, %x
  %x1 = add i32 %x, 1
  %vec1 = insertelement <16 x i32> %vec, i32 %x1, i32 %at
  %i1 = add i32 %i, 1
  %more = icmp ult i32 %i1, %turns
  br i1 %more, label %loop, label %end
end:
  %o = getelementptr i32, i32 addrspace(1)* %out, i32 %id
  store i32 %sum1, i32 addrspace(1)* %o
  ret void
}
