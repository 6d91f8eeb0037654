// Command looper is a guest with a loop of its own. It runs the message of a
// task in bash, counts its tasks, and can be told to break the rules of the
// queue:
//
//   - "count": the result is the number of tasks so far;
//   - "fail TEXT": the task's error is TEXT;
//   - "skip": the next task is fetched before this one is settled;
//   - "twice": the task is settled twice;
//   - "leave": the loop ends when the task is settled;
//   - "vanish": the loop ends before the task is settled.
//
// The result of a completion is the completion's own text.
package main

import (
	"errors"
	"strconv"
	"strings"

	"github.com/murmur-capsule/murmur/capsule/guest"
	"github.com/murmur-capsule/murmur/capsule/guest/looper"
)

func init() { looper.Main(loop) }

func main() {}

func loop() {
	count := 0
	for task := range looper.Tasks() {
		count++
		if !settle(task, count) {
			return
		}
	}
}

// settle works on a task, and reports whether to go on.
func settle(task guest.Task, count int) bool {
	word, rest, _ := strings.Cut(task.Message, " ")
	if task.Origin == guest.OriginCompletion {
		word = ""
	}
	switch word {
	case "":
		looper.Settle(task.Message, nil)
	case "count":
		looper.Settle(strconv.Itoa(count), nil)
	case "fail":
		looper.Settle("", errors.New(rest))
	case "skip":
	case "twice":
		looper.Settle("once", nil)
		looper.Settle("again", nil)
	case "leave":
		looper.Settle("left", nil)
		return false
	case "vanish":
		return false
	default:
		looper.Settle(guest.Run(guest.Bash(task.Message)).Data, nil)
	}
	return true
}
