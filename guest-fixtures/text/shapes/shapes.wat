;; A component whose functions hand back what they are given, in the shapes that
;; calls come in. It imports a function as well, to be called back.
(component
  (import "test:host/tally@0.1.0" (instance $host
    (export "add" (func (param "a" u32) (param "b" u32) (result u32)))))
  (type $point' (record (field "x" u32) (field "y" u32) (field "name" string)))
  (export $point "point" (type $point'))

  (core module $Main
    (import "host" "add" (func $add (param i32 i32) (result i32)))
    (memory (export "memory") 32)
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
      (local.get $at))
    (func (export "add") (param i32 i32) (result i32) (i32.add (local.get 0) (local.get 1)))
    (func (export "call-back") (param i32 i32) (result i32) (call $add (local.get 0) (local.get 1)))
    (func (export "back") (param $at i32) (param $len i32) (result i32)
      (i32.store (i32.const 16) (local.get $at))
      (i32.store (i32.const 20) (local.get $len))
      (i32.const 16)))
  (core func $add (canon lower (func $host "add")))
  (core instance $main (instantiate $Main (with "host" (instance (export "add" (func $add))))))
  (alias core export $main "memory" (core memory $mem))
  (alias core export $main "realloc" (core func $realloc))
  (alias core export $main "forget" (core func $forget))
  (alias core export $main "back" (core func $back))

  (func (export "add") (param "a" u32) (param "b" u32) (result u32) (canon lift (core func $main "add")))
  (func (export "call-back") (param "a" u32) (param "b" u32) (result u32) (canon lift (core func $main "call-back")))
  (func (export "text") (param "s" string) (result string)
    (canon lift (core func $back) (memory $mem) (realloc $realloc) (post-return $forget)))
  (func (export "bytes") (param "b" (list u8)) (result (list u8))
    (canon lift (core func $back) (memory $mem) (realloc $realloc) (post-return $forget)))
  (func (export "points") (param "p" (list $point)) (result (list $point))
    (canon lift (core func $back) (memory $mem) (realloc $realloc) (post-return $forget))))
