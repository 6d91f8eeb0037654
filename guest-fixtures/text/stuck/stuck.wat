;; A component whose second core module never comes back from its start function.
(component
  (core module $First (func $quick) (start $quick))
  (core instance (instantiate $First))
  (core module $Second (func $stuck (loop (br 0))) (start $stuck))
  (core instance (instantiate $Second)))
