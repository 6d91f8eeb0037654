module github.com/murmur-capsule/murmur/host/internal/component/bench

go 1.26.0

require (
	github.com/murmur-capsule/murmur v0.0.0
	github.com/samyfodil/wazy v0.8.0
	github.com/stretchr/testify v1.12.1
	github.com/tetratelabs/wazero v1.12.0
)

require (
	github.com/gofrs/flock v0.13.2 // indirect
	github.com/google/renameio/v2 v2.0.2 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/sys v0.50.0 // indirect
)

replace github.com/murmur-capsule/murmur => ../../../../
