;; A guest whose tool is another component: what tools that compose call a plug.
;; In place of the two lines with a sign stand the components.
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
  ;;= plug
  ;;= guest
  (instance $plugged (instantiate $plug (with "murmur:tool/run@0.1.0" (instance $tool))))
  (instance $called (instantiate $guest
    (with "murmur:tool/run@0.1.0" (instance $plugged "murmur:tool/run@0.1.0"))
    (with "murmur:task/types@0.1.0" (instance $types))))
  (export "murmur:task/handler@0.1.0" (instance $called "murmur:task/handler@0.1.0")))
