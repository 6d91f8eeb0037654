;; A guest that takes its own tasks, as component text: the result of a task is
;; its own message, and a task without one has failed.
(component
  (import "murmur:task/types@0.1.0" (instance $types
    (type $origin' (enum "user" "peer" "schedule" "event" "completion" "system"))
    (export "origin" (type $origin (eq $origin')))
    (type $trust' (enum "trusted" "untrusted"))
    (export "trust" (type $trust (eq $trust')))
    (type $task' (record
      (field "id" string)
      (field "context-id" string)
      (field "origin" $origin)
      (field "trust" $trust)
      (field "message" string)))
    (export "task" (type (eq $task')))))
  (alias export $types "task" (type $task))
  (import "murmur:task/queue@0.1.0" (instance $queue
    (alias outer 1 $task (type $task'))
    (export "task" (type $task (eq $task')))
    (export "next" (func (result (option $task))))
    (export "settle" (func (param "outcome" (result string (error string)))))))

  (core module $Memory
    (memory (export "memory") 1)
    (global $top (mut i32) (i32.const 1024))
    ;; A task at a time is in memory: it begins where the last one did.
    (func (export "forget") (global.set $top (i32.const 1024)))
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
  (core func $next (canon lower (func $queue "next") (memory $mem) (realloc $realloc)))
  (core func $settle (canon lower (func $queue "settle") (memory $mem)))

  (core module $Main
    (import "memory" "memory" (memory 1))
    (import "memory" "forget" (func $forget))
    (import "queue" "next" (func $next (param i32)))
    (import "queue" "settle" (func $settle (param i32 i32 i32)))
    (data (i32.const 128) "nothing was asked")
    (func (export "run")
      (loop $again
        (call $forget)
        (call $next (i32.const 0))
        (if (i32.load8_u (i32.const 0)) (then
          (if (i32.load (i32.const 28))
            (then (call $settle (i32.const 0) (i32.load (i32.const 24)) (i32.load (i32.const 28))))
            (else (call $settle (i32.const 1) (i32.const 128) (i32.const 17))))
          (br $again))))))
  (core instance $main (instantiate $Main
    (with "memory" (instance $memory))
    (with "queue" (instance (export "next" (func $next)) (export "settle" (func $settle))))))

  (func $run (canon lift (core func $main "run")))
  (instance $entry (export "run" (func $run)))
  (export "murmur:capsule/run@0.1.0" (instance $entry)))
