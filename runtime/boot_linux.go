package runtime

import (
	"os"
	"strings"
	"sync"
)

// bootID tells this start of the machine from every other one.
var bootID = sync.OnceValue(func() string {
	data, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(data))
})
