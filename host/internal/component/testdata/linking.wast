;; Components within components, modules as values, and imports.

(component
  (component $Leaf
    (import "base" (func $base (result u32)))
    (core func $base' (canon lower (func $base)))
    (core module $m
      (import "" "base" (func $base (result i32)))
      (func (export "more") (result i32) (i32.add (call $base) (i32.const 1))))
    (core instance $m (instantiate $m (with "" (instance (export "base" (func $base'))))))
    (func (export "more") (result u32) (canon lift (core func $m "more"))))
  (core module $zero (func (export "zero") (result i32) (i32.const 0)))
  (core instance $zero (instantiate $zero))
  (func $zero (result u32) (canon lift (core func $zero "zero")))
  (instance $one (instantiate $Leaf (with "base" (func $zero))))
  (instance $two (instantiate $Leaf (with "base" (func $one "more"))))
  (instance $three (instantiate $Leaf (with "base" (func $two "more"))))
  (export "three" (func $three "more")))
(assert_return (invoke "three") (u32.const 3))

;; memories, tables and globals are shared through a bundle under other names
(component
  (core module $a
    (memory (export "m") 1)
    (table (export "t") 2 funcref)
    (global (export "g") (mut i32) (i32.const 7))
    (func $five (result i32) (i32.const 5))
    (elem (i32.const 1) $five)
    (data (i32.const 8) "\2a"))
  (core instance $a (instantiate $a))
  (core module $b
    (import "x" "memory" (memory 1))
    (import "x" "table" (table 2 funcref))
    (import "y" "global" (global $g (mut i32)))
    (type $f (func (result i32)))
    (func (export "add") (result i32)
      (i32.add (i32.load8_u (i32.const 8))
        (i32.add (global.get $g) (call_indirect (type $f) (i32.const 1))))))
  (core instance $b (instantiate $b
    (with "x" (instance (export "memory" (memory $a "m")) (export "table" (table $a "t"))))
    (with "y" (instance (export "global" (global $a "g"))))))
  (func (export "add") (result u32) (canon lift (core func $b "add"))))
(assert_return (invoke "add") (u32.const 54))

;; a core module is handed in, through an outer alias and an import
(component
  (core module $seven (func (export "f") (result i32) (i32.const 7)))
  (component $Runs
    (import "m" (core module $m (export "f" (func (result i32)))))
    (core instance $i (instantiate $m))
    (func (export "run") (result u32) (canon lift (core func $i "f"))))
  (component $Hands
    (alias outer 1 0 (core module $s))
    (export "seven" (core module $s)))
  (instance $h (instantiate $Hands))
  (instance $r (instantiate $Runs (with "m" (core module $h "seven"))))
  (export "run" (func $r "run")))
(assert_return (invoke "run") (u32.const 7))

;; versions: a patch more or less is served, another minor version is not
(component $provider
  (core module $m (func (export "f") (result i32) (i32.const 11)))
  (core instance $i (instantiate $m))
  (func $f (result u32) (canon lift (core func $i "f")))
  (instance $x (export "f" (func $f)))
  (export "own:things/numbers@0.2.5" (instance $x)))
(register "provider" $provider)
(assert_unlinkable
  (component
    (import "own:things/numbers@0.3.0" (instance (export "f" (func (result u32))))))
  "component imports instance `own:things/numbers@0.3.0`, but a matching implementation was not found")
(assert_unlinkable
  (component
    (import "provider" (instance
      (export "own:things/numbers@0.2.5" (instance (export "g" (func)))))))
  "its export `own:things/numbers@0.2.5.g` was not found")
(assert_unlinkable
  (component
    (import "provider" (instance
      (export "own:things/numbers@0.2.5" (instance (export "f" (func (result u64))))))))
  "expected `u64` found `u32`")

;; a component may not call itself through the host's back
(assert_trap
  (component
    (core module $m (func (export "f")))
    (core instance $i (instantiate $m))
    (func $f (canon lift (core func $i "f")))
    (core func $g (canon lower (func $f)))
    (core module $n (import "" "g" (func $g)) (start $g))
    (core instance (instantiate $n (with "" (instance (export "g" (func $g)))))))
  "cannot enter component instance")

;; what the asynchronous ABI brings links, and traps when it is called
(component
  (core func $new (canon waitable-set.new))
  (canon context.set i32 0 (core func $set))
  (canon context.get i32 0 (core func $get))
  (core module $m
    (import "" "new" (func $new (result i32)))
    (import "" "set" (func $set (param i32)))
    (import "" "get" (func $get (result i32)))
    (func (export "remember") (result i32) (call $set (i32.const 9)) (call $get))
    (func (export "wait") (result i32) (call $new)))
  (core instance $i (instantiate $m (with "" (instance
    (export "new" (func $new)) (export "set" (func $set)) (export "get" (func $get))))))
  (func (export "remember") (result u32) (canon lift (core func $i "remember")))
  (func (export "wait") (result u32) (canon lift (core func $i "wait"))))
(assert_return (invoke "remember") (u32.const 9))
(assert_trap (invoke "wait") "waitable-set.new is not supported")

(assert_invalid
  (component
    (component $c (import "n" (func (param "a" u8))))
    (import "f" (func $f (param "a" u16)))
    (instance (instantiate $c (with "n" (func $f)))))
  "type mismatch in function parameter `a`")
(assert_invalid
  (component
    (core module $m (import "a" "b" (func)))
    (core instance (instantiate $m)))
  "missing module instantiation argument named `a`")
