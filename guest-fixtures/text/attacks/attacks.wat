;; A component that does, on demand, what a host must bear. It has two core
;; modules with a memory each, and a component within it.
(component
  (import "test:host/calls@0.1.0" (instance $host
    (export "call" (func (param "n" u32) (result u32)))
    (export "fetch" (func (result string)))
    (export "now" (func (result u64)))))
  (import "test:host/gone@1.0.0" (instance $gone (export "vanish" (func))))

  (core module $Memory
    (import "host" "now" (func $now (result i64)))
    (memory (export "memory") 1)
    (global $mode (mut i32) (i32.const 0))
    (func (export "set-mode") (param i32) (global.set $mode (local.get 0)))
    (func $realloc.trap unreachable)
    (func $realloc.spin (loop (br 0)))
    ;; What the allocator does depends on the mode: it works, traps, never comes
    ;; back, gives a block out of the memory, or asks for the time first.
    (func $realloc (export "realloc") (param i32 i32 i32 i32) (result i32)
      (if (i32.eq (global.get $mode) (i32.const 1)) (then (call $realloc.trap)))
      (if (i32.eq (global.get $mode) (i32.const 2)) (then (call $realloc.spin)))
      (if (i32.eq (global.get $mode) (i32.const 3)) (then (return (i32.const 0x7ffffff0))))
      (if (i32.eq (global.get $mode) (i32.const 4)) (then (drop (call $now))))
      (i32.const 1024))
    (func (export "grow") (param i32) (result i32) (memory.grow (local.get 0))))
  (core func $now (canon lower (func $host "now")))
  (core instance $memory (instantiate $Memory
    (with "host" (instance (export "now" (func $now))))))
  (alias core export $memory "memory" (core memory $mem))
  (alias core export $memory "realloc" (core func $realloc))
  (core func $call (canon lower (func $host "call")))
  (core func $fetch (canon lower (func $host "fetch") (memory $mem) (realloc $realloc)))
  (core func $vanish (canon lower (func $gone "vanish")))

  (core module $Main
    (import "memory" "memory" (memory 1))
    (import "host" "call" (func $call (param i32) (result i32)))
    (import "host" "fetch" (func $fetch (param i32)))
    (import "host" "vanish" (func $vanish))
    (func $spinning (loop (br 0)))
    (func (export "spin") (call $spinning))
    (func $crashing unreachable)
    (func $crash (export "crash") (call $crashing))
    (func $asking (export "call") (param i32) (result i32) (call $call (local.get 0)))
    (func $fetching (export "fetch") (result i32) (call $fetch (i32.const 16)) (i32.load (i32.const 20)))
    (func $vanishing (export "vanish") (call $vanish))
    (func (export "length") (param i32 i32) (result i32) (local.get 1)))
  (core instance $main (instantiate $Main
    (with "memory" (instance $memory))
    (with "host" (instance
      (export "call" (func $call))
      (export "fetch" (func $fetch))
      (export "vanish" (func $vanish))))))

  (core module $Other
    (memory 1)
    (func (export "grow") (param i32) (result i32) (memory.grow (local.get 0))))
  (core instance $other (instantiate $Other))

  (component $Inner
    (core module $Deep (func $deepest (export "fall") unreachable))
    (core instance $deep (instantiate $Deep))
    (func (export "fall") (canon lift (core func $deep "fall"))))
  (instance $inner (instantiate $Inner))
  (core func $fall (canon lower (func $inner "fall")))
  (core module $Edge
    (import "inner" "fall" (func $fall))
    (func $over (export "fall") (call $fall)))
  (core instance $edge (instantiate $Edge (with "inner" (instance (export "fall" (func $fall))))))

  (func (export "set-realloc") (param "mode" u32) (canon lift (core func $memory "set-mode")))
  (func (export "grow") (param "pages" u32) (result s32) (canon lift (core func $memory "grow")))
  (func (export "grow-other") (param "pages" u32) (result s32) (canon lift (core func $other "grow")))
  (func (export "spin") (canon lift (core func $main "spin")))
  (func (export "crash") (canon lift (core func $main "crash")))
  (func (export "call") (param "n" u32) (result u32) (canon lift (core func $main "call")))
  (func (export "fetch") (result u32) (canon lift (core func $main "fetch")))
  (func (export "vanish") (canon lift (core func $main "vanish")))
  (func (export "length") (param "text" string) (result u32)
    (canon lift (core func $main "length") (memory $mem) (realloc $realloc)))
  (func (export "fall") (canon lift (core func $edge "fall"))))
