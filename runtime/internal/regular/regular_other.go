//go:build !unix

package regular

// atOnce is nothing where no pipe has a name among files.
const atOnce = 0
