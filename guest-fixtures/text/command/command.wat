;; A plain command, as component text: what it reads from standard input goes to
;; standard output, up to 4,096 bytes. An input that begins with "!" goes to
;; standard error, and the command has failed.
(component
  (import "wasi:io/error@0.2.0" (instance $error (export "error" (type (sub resource)))))
  (alias export $error "error" (type $error'))
  (import "wasi:io/streams@0.2.0" (instance $streams
    (export "input-stream" (type $in (sub resource)))
    (export "output-stream" (type $out (sub resource)))
    (alias outer 1 $error' (type $error''))
    (export "error" (type $error (eq $error'')))
    (type $stream-error' (variant (case "last-operation-failed" (own $error)) (case "closed")))
    (export "stream-error" (type $stream-error (eq $stream-error')))
    (export "[method]input-stream.blocking-read"
      (func (param "self" (borrow $in)) (param "len" u64) (result (result (list u8) (error $stream-error)))))
    (export "[method]output-stream.blocking-write-and-flush"
      (func (param "self" (borrow $out)) (param "contents" (list u8)) (result (result (error $stream-error)))))))
  (alias export $streams "input-stream" (type $in))
  (alias export $streams "output-stream" (type $out))
  (import "wasi:cli/stdin@0.2.3" (instance $stdin
    (alias outer 1 $in (type $in'))
    (export "input-stream" (type $in (eq $in')))
    (export "get-stdin" (func (result (own $in))))))
  (import "wasi:cli/stdout@0.2.3" (instance $stdout
    (alias outer 1 $out (type $out'))
    (export "output-stream" (type $out (eq $out')))
    (export "get-stdout" (func (result (own $out))))))
  (import "wasi:cli/stderr@0.2.3" (instance $stderr
    (alias outer 1 $out (type $out'))
    (export "output-stream" (type $out (eq $out')))
    (export "get-stderr" (func (result (own $out))))))

  (core module $Memory
    (memory (export "memory") 1)
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024)))
  (core instance $memory (instantiate $Memory))
  (alias core export $memory "memory" (core memory $mem))
  (core func $get-stdin (canon lower (func $stdin "get-stdin")))
  (core func $get-stdout (canon lower (func $stdout "get-stdout")))
  (core func $get-stderr (canon lower (func $stderr "get-stderr")))
  (core func $read (canon lower (func $streams "[method]input-stream.blocking-read")
    (memory $mem) (realloc (core func $memory "realloc"))))
  (core func $write (canon lower (func $streams "[method]output-stream.blocking-write-and-flush") (memory $mem)))

  (core module $Main
    (import "memory" "memory" (memory 1))
    (import "wasi" "get-stdin" (func $get-stdin (result i32)))
    (import "wasi" "get-stdout" (func $get-stdout (result i32)))
    (import "wasi" "get-stderr" (func $get-stderr (result i32)))
    (import "wasi" "read" (func $read (param i32 i64 i32)))
    (import "wasi" "write" (func $write (param i32 i32 i32 i32)))
    ;; At 0 lies what was read, at 32 what came of writing.
    (func (export "run") (result i32)
      (local $failed i32)
      (call $read (call $get-stdin) (i64.const 4096) (i32.const 0))
      (if (i32.load8_u (i32.const 0)) (then (return (i32.const 0)))) ;; there was none
      (local.set $failed (i32.eq (i32.load8_u (i32.load (i32.const 4))) (i32.const 0x21)))
      (call $write
        (if (result i32) (local.get $failed) (then (call $get-stderr)) (else (call $get-stdout)))
        (i32.load (i32.const 4)) (i32.load (i32.const 8)) (i32.const 32))
      (i32.or (local.get $failed) (i32.load8_u (i32.const 32)))))
  (core instance $main (instantiate $Main
    (with "memory" (instance $memory))
    (with "wasi" (instance
      (export "get-stdin" (func $get-stdin))
      (export "get-stdout" (func $get-stdout))
      (export "get-stderr" (func $get-stderr))
      (export "read" (func $read))
      (export "write" (func $write))))))

  (func $run (result (result)) (canon lift (core func $main "run")))
  (instance $entry (export "run" (func $run)))
  (export "wasi:cli/run@0.2.3" (instance $entry)))
