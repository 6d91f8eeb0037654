;; A WIT package as a binary: it exports the type of a component, and has no code.
(component
  (type $greeter (component
    (type $interface (component
      (type $instance (instance (export "greet" (func (param "name" string) (result string)))))
      (export "test:words/greeter@1.0.0" (instance (type $instance)))))
    (export "greeter" (component (type $interface)))))
  (export "greeter" (type $greeter)))
