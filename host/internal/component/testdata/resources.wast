;; Resources between two components: handles, borrows, destructors.

(component definition $Shop
  (component $Maker
    (core module $d
      (global $dropped (mut i32) (i32.const 0))
      (func (export "drop") (param i32) (global.set $dropped (local.get 0)))
      (func (export "dropped") (result i32) (global.get $dropped)))
    (core instance $d (instantiate $d))
    (type $box' (resource (rep i32) (dtor (core func $d "drop"))))
    (export $box "box" (type $box'))
    (core func $new (canon resource.new $box'))
    (core module $m
      (import "" "new" (func $new (param i32) (result i32)))
      (func (export "make") (param i32) (result i32) (call $new (i32.mul (local.get 0) (i32.const 10))))
      ;; a borrow of one's own resource comes as its representation
      (func (export "peek") (param i32) (result i32) (local.get 0)))
    (core instance $m (instantiate $m (with "" (instance (export "new" (func $new))))))
    (func (export "[constructor]box") (param "n" u32) (result (own $box)) (canon lift (core func $m "make")))
    (func (export "[method]box.peek") (param "self" (borrow $box)) (result u32) (canon lift (core func $m "peek")))
    (func (export "dropped") (result u32) (canon lift (core func $d "dropped")))
  )
  (component $User
    (import "maker" (instance $maker
      (export "box" (type $box (sub resource)))
      (export "[constructor]box" (func (param "n" u32) (result (own $box))))
      (export "[method]box.peek" (func (param "self" (borrow $box)) (result u32)))))
    (alias export $maker "box" (type $box))
    (core func $make (canon lower (func $maker "[constructor]box")))
    (core func $peek (canon lower (func $maker "[method]box.peek")))
    (core func $drop (canon resource.drop $box))
    (core module $m
      (import "" "make" (func $make (param i32) (result i32)))
      (import "" "peek" (func $peek (param i32) (result i32)))
      (import "" "drop" (func $drop (param i32)))
      (func (export "use") (param i32) (result i32)
        (local $h i32)
        (local $seen i32)
        (local.set $h (call $make (local.get 0)))
        (local.set $seen (call $peek (local.get $h)))
        (call $drop (local.get $h))
        (local.get $seen))
      (func (export "twice")
        (local $h i32)
        (local.set $h (call $make (i32.const 1)))
        (call $drop (local.get $h))
        (call $drop (local.get $h)))
      (func (export "first") (result i32) (call $make (i32.const 1))))
    (core instance $m (instantiate $m (with "" (instance
      (export "make" (func $make)) (export "peek" (func $peek)) (export "drop" (func $drop))))))
    (func (export "use") (param "n" u32) (result u32) (canon lift (core func $m "use")))
    (func (export "twice") (canon lift (core func $m "twice")))
    (func (export "first") (result u32) (canon lift (core func $m "first")))
  )
  (instance $maker (instantiate $Maker))
  (instance $user (instantiate $User (with "maker" (instance $maker))))
  (export "use" (func $user "use"))
  (export "twice" (func $user "twice"))
  (export "first" (func $user "first"))
  (export "dropped" (func $maker "dropped"))
)
(component instance $a $Shop)
(assert_return (invoke "use" (u32.const 4)) (u32.const 40))
(assert_return (invoke "dropped") (u32.const 40))
(assert_return (invoke "first") (u32.const 1))
(assert_return (invoke "first") (u32.const 2))
(component instance $b $Shop)
;; its handles are its own
(assert_return (invoke "first") (u32.const 1))
(assert_return (invoke $a "first") (u32.const 3))
(assert_trap (invoke "twice") "unknown handle index 2")

(assert_invalid
  (component
    (import "r" (type $r (sub resource)))
    (core func (canon resource.new $r)))
  "not a local resource")
(assert_invalid
  (component
    (type $r (resource (rep i64))))
  "resources can only be represented by `i32`")
