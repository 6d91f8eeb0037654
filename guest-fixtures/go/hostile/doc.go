// Command hostile is a guest that attacks its host. The message of a task names
// the attack, one of those in attacks.go; "behave" is none. It speaks the
// canonical ABI by hand, since the SDK would not let it break the rules.
package main

func main() {}
