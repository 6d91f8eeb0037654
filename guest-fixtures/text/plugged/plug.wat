;; What stands between a guest and the tool: it hands each request on, and each
;; result back, through a memory of its own.
(component
  (import "murmur:tool/run@0.1.0" (instance $tool
    (type $status' (enum "passed" "failed" "error"))
    (export "status" (type $status (eq $status')))
    (type $input' (record (field "data" (option string)) (field "log-path" (option string))))
    (export "tool-input" (type $input (eq $input')))
    (type $result' (record
      (field "status" $status)
      (field "summary" (option string))
      (field "data" (option string))
      (field "data-path" (option string))
      (field "truncated" bool)
      (field "metadata" (list (tuple string string)))))
    (export "tool-result" (type $result (eq $result')))
    (export "run" (func (param "input" $input) (result $result)))))
  (alias export $tool "status" (type $status))
  (alias export $tool "tool-input" (type $input))
  (alias export $tool "tool-result" (type $result))

  (core module $Memory
    (memory (export "memory") 1)
    (global $top (mut i32) (i32.const 1024))
    (func (export "forget") (param i32) (global.set $top (i32.const 1024)))
    (func (export "realloc") (param i32 i32) (param $align i32) (param $size i32) (result i32)
      (local $at i32) (local $pages i32)
      (local.set $at (i32.and
        (i32.add (global.get $top) (i32.sub (local.get $align) (i32.const 1)))
        (i32.sub (i32.const 0) (local.get $align))))
      (global.set $top (i32.add (local.get $at) (local.get $size)))
      (local.set $pages (i32.sub
        (i32.shr_u (i32.add (global.get $top) (i32.const 0xffff)) (i32.const 16))
        (memory.size)))
      (if (i32.gt_s (local.get $pages) (i32.const 0))
        (then (if (i32.eq (memory.grow (local.get $pages)) (i32.const -1)) (then unreachable))))
      (local.get $at)))
  (core instance $memory (instantiate $Memory))
  (alias core export $memory "memory" (core memory $mem))
  (alias core export $memory "realloc" (core func $realloc))
  (core func $run (canon lower (func $tool "run") (memory $mem) (realloc $realloc)))

  (core module $Main
    (import "tool" "run" (func $run (param i32 i32 i32 i32 i32 i32 i32)))
    (func (export "run") (param i32 i32 i32 i32 i32 i32) (result i32)
      (call $run (local.get 0) (local.get 1) (local.get 2) (local.get 3) (local.get 4) (local.get 5) (i32.const 16))
      (i32.const 16)))
  (core instance $main (instantiate $Main (with "tool" (instance (export "run" (func $run))))))

  (func $run (param "input" $input) (result $result)
    (canon lift (core func $main "run") (memory $mem) (realloc $realloc) (post-return (core func $memory "forget"))))
  (instance $served
    (export "status" (type $status))
    (export "tool-input" (type $input))
    (export "tool-result" (type $result))
    (export "run" (func $run)))
  (export "murmur:tool/run@0.1.0" (instance $served)))
