;; A guest written by hand, as component text. It runs what it is told: the
;; message of a task is a shell request in JSON, or else a bash command, and its
;; result is the tool's result in JSON. The result of a completion is the
;; completion's own text.
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

  ;; The memory and its allocator. Blocks are handed out upwards, and taken back
  ;; all at once when a call is over.
  (core module $Memory
    (memory (export "memory") 1)
    (global $top (mut i32) (i32.const 4096))

    ;; reserve makes sure that the memory reaches to an end.
    (func $reserve (export "reserve") (param $end i32)
      (local $pages i32)
      (local.set $pages (i32.sub
        (i32.shr_u (i32.add (local.get $end) (i32.const 0xffff)) (i32.const 16))
        (memory.size)))
      (if (i32.gt_s (local.get $pages) (i32.const 0))
        (then (if (i32.eq (memory.grow (local.get $pages)) (i32.const -1)) (then unreachable)))))

    (func (export "realloc") (param $old i32) (param $had i32) (param $align i32) (param $size i32) (result i32)
      (local $at i32)
      (local.set $at (i32.and
        (i32.add (global.get $top) (i32.sub (local.get $align) (i32.const 1)))
        (i32.sub (i32.const 0) (local.get $align))))
      (global.set $top (i32.add (local.get $at) (local.get $size)))
      (call $reserve (global.get $top))
      (memory.copy (local.get $at) (local.get $old)
        (select (local.get $had) (local.get $size) (i32.lt_u (local.get $had) (local.get $size))))
      (local.get $at))

    (func (export "top") (result i32) (global.get $top))
    (func (export "set-top") (param $top i32) (global.set $top (local.get $top))))
  (core instance $memory (instantiate $Memory))
  (alias core export $memory "memory" (core memory $mem))
  (alias core export $memory "realloc" (core func $realloc))

  (alias export $tool "run" (func $run))
  (core func $run (canon lower (func $run) (memory $mem) (realloc $realloc)))

  (core module $Main
    (import "memory" "memory" (memory 1))
    (import "memory" "reserve" (func $reserve (param i32)))
    (import "memory" "top" (func $top (result i32)))
    (import "memory" "set-top" (func $set-top (param i32)))
    (import "tool" "run" (func $run (param i32 i32 i32 i32 i32 i32 i32)))

    ;; At 0 lies the outcome of a call, at 64 the tool's result; names are below.
    (data (i32.const 512) "passedfailederror,")
    (data (i32.const 544) "0123456789abcdef")
    (data (i32.const 576) "{\"binary\":\"bash\",\"command\":")
    (data (i32.const 640) "{\"status\":\"")
    (data (i32.const 704) ",\"data\":")
    (data (i32.const 720) ",\"data_path\":")
    (data (i32.const 736) ",\"truncated\":true,\"metadata\":{")
    (data (i32.const 776) ",\"truncated\":false,\"metadata\":{")
    (data (i32.const 816) ",\"summary\":")

    ;; Text is written from $from to $end, where the memory's blocks end.
    (global $from (mut i32) (i32.const 0))
    (global $end (mut i32) (i32.const 0))

    (func $begin
      (global.set $from (call $top))
      (global.set $end (global.get $from)))
    (func $done
      (call $set-top (global.get $end)))

    (func $byte (param $c i32)
      (call $reserve (i32.add (global.get $end) (i32.const 1)))
      (i32.store8 (global.get $end) (local.get $c))
      (global.set $end (i32.add (global.get $end) (i32.const 1))))

    (func $bytes (param $at i32) (param $len i32)
      (call $reserve (i32.add (global.get $end) (local.get $len)))
      (memory.copy (global.get $end) (local.get $at) (local.get $len))
      (global.set $end (i32.add (global.get $end) (local.get $len))))

    ;; A string of JSON.
    (func $string (param $at i32) (param $len i32)
      (local $c i32)
      (call $byte (i32.const 0x22))
      (block $over (loop $next
        (br_if $over (i32.eqz (local.get $len)))
        (local.set $c (i32.load8_u (local.get $at)))
        (if (i32.lt_u (local.get $c) (i32.const 0x20))
          (then
            (call $byte (i32.const 0x5c))
            (call $byte (i32.const 0x75))
            (call $byte (i32.const 0x30))
            (call $byte (i32.const 0x30))
            (call $byte (i32.load8_u offset=544 (i32.shr_u (local.get $c) (i32.const 4))))
            (call $byte (i32.load8_u offset=544 (i32.and (local.get $c) (i32.const 15)))))
          (else
            (if (i32.or (i32.eq (local.get $c) (i32.const 0x22)) (i32.eq (local.get $c) (i32.const 0x5c)))
              (then (call $byte (i32.const 0x5c))))
            (call $byte (local.get $c))))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (local.set $len (i32.sub (local.get $len) (i32.const 1)))
        (br $next)))
      (call $byte (i32.const 0x22)))

    ;; A member of a JSON object, for an option that holds a text.
    (func $member (param $option i32) (param $name i32) (param $name-len i32)
      (if (i32.load8_u (local.get $option)) (then
        (if (i32.load offset=8 (local.get $option)) (then
          (call $bytes (local.get $name) (local.get $name-len))
          (call $string (i32.load offset=4 (local.get $option)) (i32.load offset=8 (local.get $option))))))))

    ;; Whether a text begins with a brace, after blanks.
    (func $is-object (param $at i32) (param $len i32) (result i32)
      (local $c i32)
      (loop $next
        (if (i32.eqz (local.get $len)) (then (return (i32.const 0))))
        (local.set $c (i32.load8_u (local.get $at)))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (local.set $len (i32.sub (local.get $len) (i32.const 1)))
        (br_if $next (i32.eq (local.get $c) (i32.const 0x20)))
        (br_if $next (i32.lt_u (i32.sub (local.get $c) (i32.const 9)) (i32.const 5))))
      (i32.eq (local.get $c) (i32.const 0x7b)))

    (func $report
      (local $at i32) (local $left i32)
      (call $begin)
      (call $bytes (i32.const 640) (i32.const 11))
      (call $bytes
        (i32.add (i32.const 512) (i32.mul (i32.load8_u (i32.const 64)) (i32.const 6)))
        (select (i32.const 5) (i32.const 6) (i32.eq (i32.load8_u (i32.const 64)) (i32.const 2))))
      (call $byte (i32.const 0x22))
      (call $member (i32.const 68) (i32.const 816) (i32.const 11))
      (call $member (i32.const 80) (i32.const 704) (i32.const 8))
      (call $member (i32.const 92) (i32.const 720) (i32.const 13))
      (if (i32.load8_u (i32.const 104))
        (then (call $bytes (i32.const 736) (i32.const 30)))
        (else (call $bytes (i32.const 776) (i32.const 31))))
      (local.set $at (i32.load (i32.const 108)))
      (local.set $left (i32.load (i32.const 112)))
      (block $over (loop $next
        (br_if $over (i32.eqz (local.get $left)))
        (call $string (i32.load (local.get $at)) (i32.load offset=4 (local.get $at)))
        (call $byte (i32.const 0x3a))
        (call $string (i32.load offset=8 (local.get $at)) (i32.load offset=12 (local.get $at)))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (local.set $left (i32.sub (local.get $left) (i32.const 1)))
        (br_if $over (i32.eqz (local.get $left)))
        (call $byte (i32.const 0x2c))
        (br $next)))
      (call $byte (i32.const 0x7d))
      (call $byte (i32.const 0x7d))
      (call $done))

    (func (export "handle") (param $id i32) (param $id-len i32) (param $context i32) (param $context-len i32)
        (param $origin i32) (param $trust i32) (param $message i32) (param $len i32) (result i32)
      (i32.store8 (i32.const 0) (i32.const 0))
      (if (i32.ne (local.get $origin) (i32.const 4)) (then
        (if (i32.eqz (call $is-object (local.get $message) (local.get $len))) (then
          (call $begin)
          (call $bytes (i32.const 576) (i32.const 27))
          (call $string (local.get $message) (local.get $len))
          (call $byte (i32.const 0x7d))
          (call $done)
          (local.set $message (global.get $from))
          (local.set $len (i32.sub (global.get $end) (global.get $from)))))
        (call $run (i32.const 1) (local.get $message) (local.get $len)
          (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 64))
        (call $report)
        (local.set $message (global.get $from))
        (local.set $len (i32.sub (global.get $end) (global.get $from)))))
      (i32.store (i32.const 4) (local.get $message))
      (i32.store (i32.const 8) (local.get $len))
      (i32.const 0))

    (func (export "handled") (param i32) (call $set-top (i32.const 4096))))
  (core instance $main (instantiate $Main
    (with "memory" (instance $memory))
    (with "tool" (instance (export "run" (func $run))))))

  (func $handle (param "task" $task) (result (result string (error string)))
    (canon lift (core func $main "handle") (memory $mem) (realloc $realloc) (post-return (core func $main "handled"))))
  (instance $handler (export "task" (type $task)) (export "handle" (func $handle)))
  (export "murmur:task/handler@0.1.0" (instance $handler)))
