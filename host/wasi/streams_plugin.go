package wasi

import (
	"context"

	"github.com/murmur-capsule/murmur/host"
)

type (
	borrowInput  = host.Borrow[*inputStream]
	borrowOutput = host.Borrow[*outputStream]
	ownPollable  = host.Own[*pollable]
	done         = streamResult[host.Unit]
)

var (
	inputResource  = host.NewResource("input-stream", (*inputStream).drop)
	outputResource = host.NewResource("output-stream", (*outputStream).drop)

	streamsPlugin = host.NewPlugin(named("wasi:io/streams"),
		inputResource, outputResource, errorResource.Used(), pollableResource.Used(),
		host.Func2("[method]input-stream.read", func(_ context.Context, s borrowInput, n uint64) (streamResult[[]byte], error) {
			p, failure := s.Value.read(n)
			return answer(p, failure, nil)
		}),
		host.Func2("[method]input-stream.blocking-read", func(ctx context.Context, s borrowInput, n uint64) (streamResult[[]byte], error) {
			p, failure, err := s.Value.blockingRead(ctx, n)
			return answer(p, failure, err)
		}),
		host.Func2("[method]input-stream.skip", func(_ context.Context, s borrowInput, n uint64) (streamResult[uint64], error) {
			p, failure := s.Value.read(n)
			return answer(uint64(len(p)), failure, nil)
		}),
		host.Func2("[method]input-stream.blocking-skip", func(ctx context.Context, s borrowInput, n uint64) (streamResult[uint64], error) {
			p, failure, err := s.Value.blockingRead(ctx, n)
			return answer(uint64(len(p)), failure, err)
		}),
		host.Func1("[method]input-stream.subscribe", func(_ context.Context, s borrowInput) (ownPollable, error) {
			return ownPollable{Value: s.Value.src.pollable(s.Value.i)}, nil
		}),
		host.Func1("[method]output-stream.check-write", func(_ context.Context, s borrowOutput) (streamResult[uint64], error) {
			return s.Value.permit(), nil
		}),
		host.Func2("[method]output-stream.write", func(ctx context.Context, s borrowOutput, p []byte) (done, error) {
			return s.Value.put(ctx, p, maxWrite)
		}),
		host.Func2("[method]output-stream.blocking-write-and-flush", func(ctx context.Context, s borrowOutput, p []byte) (done, error) {
			return s.Value.put(ctx, p, maxBlockingWrite)
		}),
		host.Func1("[method]output-stream.flush", func(_ context.Context, s borrowOutput) (done, error) {
			return s.Value.flushed(), nil
		}),
		host.Func1("[method]output-stream.blocking-flush", func(_ context.Context, s borrowOutput) (done, error) {
			return s.Value.flushed(), nil
		}),
		host.Func1("[method]output-stream.subscribe", func(_ context.Context, s borrowOutput) (ownPollable, error) {
			return s.Value.i.always(), nil
		}),
		host.Func2("[method]output-stream.write-zeroes", func(ctx context.Context, s borrowOutput, n uint64) (done, error) {
			return s.Value.put(ctx, zeroes(n), maxWrite)
		}),
		host.Func2("[method]output-stream.blocking-write-zeroes-and-flush", func(ctx context.Context, s borrowOutput, n uint64) (done, error) {
			return s.Value.put(ctx, zeroes(n), maxBlockingWrite)
		}),
		host.Func3("[method]output-stream.splice", func(ctx context.Context, s borrowOutput, src borrowInput, n uint64) (streamResult[uint64], error) {
			return s.Value.splice(ctx, src.Value, n)
		}),
		host.Func3("[method]output-stream.blocking-splice", func(ctx context.Context, s borrowOutput, src borrowInput, n uint64) (streamResult[uint64], error) {
			if n > 0 && !s.Value.failed && !src.Value.failed {
				if err := src.Value.src.wait(ctx); err != nil {
					return streamResult[uint64]{}, err
				}
			}
			return s.Value.splice(ctx, src.Value, n)
		}),
	)
)

// put writes all of p.
func (s *outputStream) put(ctx context.Context, p []byte, limit int) (done, error) {
	failure, err := s.write(ctx, p, limit)
	return answer(host.Unit{}, failure, err)
}

// zeroes are n bytes that are zero; one more than can be written stands for any
// number that is too large.
func zeroes(n uint64) []byte { return make([]byte, min(n, maxWrite+1)) }
