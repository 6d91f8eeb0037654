// Command command is a guest that is an ordinary program: its result is what it
// prints. The first word of the message says what that is:
//
//   - "task": the task as the program sees it;
//   - "args": its arguments, one a line;
//   - "exit N TEXT": nothing; it writes TEXT to standard error and exits with N;
//   - "run COMMAND": what the shell tool answers to a bash command;
//   - "write FILE TEXT", "read FILE": a file, seen from the workdir;
//
// and otherwise it is the message itself.
package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/murmur-capsule/murmur/capsule/guest"
	"github.com/murmur-capsule/murmur/capsule/guest/command"
)

func main() {
	task, err := command.Task()
	if err == nil {
		err = answer(task)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func answer(task guest.Task) error {
	word, rest, _ := strings.Cut(task.Message, " ")
	switch word {
	case "task":
		fmt.Printf("%s %s %s %s\n", task.ID, task.ContextID, task.Origin, task.Trust)
	case "args":
		fmt.Println(strings.Join(os.Args[1:], "\n"))
	case "exit":
		return exit(rest)
	case "run":
		fmt.Println(guest.Run(guest.Bash(rest)).Data)
	case "write":
		name, text, _ := strings.Cut(rest, " ")
		return os.WriteFile("/workdir/"+name, []byte(text), 0o644)
	case "read":
		text, err := os.ReadFile("/workdir/" + rest)
		fmt.Print(string(text))
		return err
	default:
		fmt.Print(task.Message)
	}
	return nil
}

func exit(rest string) error {
	code, text, _ := strings.Cut(rest, " ")
	n, err := strconv.Atoi(code)
	if err != nil {
		return fmt.Errorf("cannot exit: %w", err)
	}
	fmt.Fprintln(os.Stderr, text)
	os.Exit(n)
	return nil
}
