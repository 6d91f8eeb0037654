;; A guest that calls the host, which may not call back.

(component
  (import "host-return-two" (func $two (result u32)))
  (core func $two' (canon lower (func $two)))
  (core module $m
    (import "" "two" (func $two (result i32)))
    (func (export "go") (result i32) (i32.add (call $two) (i32.const 1)))
    (func (export "loop") (loop $again (br $again))))
  (core instance $i (instantiate $m (with "" (instance (export "two" (func $two'))))))
  (func (export "go") (result u32) (canon lift (core func $i "go")))
  (func (export "loop") (canon lift (core func $i "loop"))))
(assert_return (invoke "go") (u32.const 3))
