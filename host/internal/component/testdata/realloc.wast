;; What a guest's allocator may and may not do.

(component definition $Guest
  (import "host-return-two" (func $two (result u32)))
  (core func $two' (canon lower (func $two)))
  (core module $m
    (import "" "two" (func $two (result i32)))
    (memory (export "mem") 1)
    (global $mode (mut i32) (i32.const 0))
    (func (export "set") (param i32) (global.set $mode (local.get 0)))
    (func (export "realloc") (param i32 i32 i32 i32) (result i32)
      (if (i32.eq (global.get $mode) (i32.const 1)) (then (return (i32.const 65535))))
      (if (i32.eq (global.get $mode) (i32.const 2)) (then (return (i32.const 3))))
      (if (i32.eq (global.get $mode) (i32.const 3)) (then (drop (call $two))))
      (if (i32.eq (global.get $mode) (i32.const 4)) (then unreachable))
      ;; grow: what the host saw of memory before is stale
      (if (i32.eq (global.get $mode) (i32.const 5)) (then
        (drop (memory.grow (i32.const 1)))
        (return (i32.const 65536))))
      (i32.const 64))
    (func (export "last") (param i32 i32) (result i32)
      (i32.load (i32.add (local.get 0) (i32.shl (i32.sub (local.get 1) (i32.const 1)) (i32.const 2))))))
  (core instance $i (instantiate $m (with "" (instance (export "two" (func $two'))))))
  (func (export "set") (param "mode" u32) (canon lift (core func $i "set")))
  (func (export "last") (param "l" (list u32)) (result u32)
    (canon lift (core func $i "last") (memory (core memory $i "mem")) (realloc (core func $i "realloc")))))

(component instance $ok $Guest)
(assert_return (invoke "last" (list.const (u32.const 4) (u32.const 6))) (u32.const 6))
(assert_return (invoke "set" (u32.const 5)))
(assert_return (invoke "last" (list.const (u32.const 4) (u32.const 8))) (u32.const 8))

(component instance $far $Guest)
(assert_return (invoke "set" (u32.const 1)))
(assert_trap (invoke "last" (list.const (u32.const 4))) "realloc return: result not aligned")

(component instance $crooked $Guest)
(assert_return (invoke "set" (u32.const 2)))
(assert_trap (invoke "last" (list.const (u32.const 4))) "realloc return: result not aligned")

(component instance $leaves $Guest)
(assert_return (invoke "set" (u32.const 3)))
(assert_trap (invoke "last" (list.const (u32.const 4))) "cannot leave component instance")

(component instance $traps $Guest)
(assert_return (invoke "set" (u32.const 4)))
(assert_trap (invoke "last" (list.const (u32.const 4))) "unreachable")
(assert_trap (invoke "set" (u32.const 0)) "it trapped earlier")
