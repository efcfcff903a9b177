package app

import (
	"context"
	"time"

	"appserver/rollout/fleet"
	"appserver/rollout/listing"
)

// outsideDriver calls a driver outside of the bubble. It passes no contexts, because those of the bubble cannot be
// used outside.
type outsideDriver struct {
	*outside
	driver fleet.Driver
}

var _ fleet.Driver = outsideDriver{}

// call returns the results of do, which it runs outside of the bubble.
func call[T any](o *outside, do func(ctx context.Context) (T, error)) (result T, err error) {
	o.run(func() { result, err = do(context.Background()) })
	return result, err
}

// do runs a function without a result.
func (d outsideDriver) do(do func(ctx context.Context) error) (err error) {
	d.run(func() { err = do(context.Background()) })
	return err
}

// Join implements fleet.Driver.
func (d outsideDriver) Join(_ context.Context, n fleet.Node) (time.Duration, error) {
	return call(d.outside, func(ctx context.Context) (time.Duration, error) { return d.driver.Join(ctx, n) })
}

// Leave implements fleet.Driver.
func (d outsideDriver) Leave(_ context.Context, n fleet.Node) error {
	return d.do(func(ctx context.Context) error { return d.driver.Leave(ctx, n) })
}

// Nodes implements fleet.Driver.
func (d outsideDriver) Nodes(_ context.Context) ([]fleet.Node, error) {
	return call(d.outside, func(ctx context.Context) ([]fleet.Node, error) { return d.driver.Nodes(ctx) })
}

// Create implements fleet.Driver.
func (d outsideDriver) Create(_ context.Context, id string, n fleet.Node, c fleet.Content) (fleet.Own, error) {
	return call(d.outside, func(ctx context.Context) (fleet.Own, error) { return d.driver.Create(ctx, id, n, c) })
}

// Take implements fleet.Driver.
func (d outsideDriver) Take(_ context.Context, id string, n fleet.Node) (fleet.Own, error) {
	return call(d.outside, func(ctx context.Context) (fleet.Own, error) { return d.driver.Take(ctx, id, n) })
}

// Release implements fleet.Driver.
func (d outsideDriver) Release(_ context.Context, o fleet.Own) error {
	return d.do(func(ctx context.Context) error { return d.driver.Release(ctx, o) })
}

// Append implements fleet.Driver.
func (d outsideDriver) Append(_ context.Context, o fleet.Own, first int64, lines [][]byte, h *fleet.Head) error {
	return d.do(func(ctx context.Context) error { return d.driver.Append(ctx, o, first, lines, h) })
}

// Read implements fleet.Driver.
func (d outsideDriver) Read(_ context.Context, id string, from int64, line func(int64, []byte) bool) (int64, error) {
	return call(d.outside, func(ctx context.Context) (int64, error) { return d.driver.Read(ctx, id, from, line) })
}

// Rewrite implements fleet.Driver.
func (d outsideDriver) Rewrite(_ context.Context, o fleet.Own, h *fleet.Head,
	line func(int64, []byte) []byte) (fleet.Own, error) {
	return call(d.outside, func(ctx context.Context) (fleet.Own, error) { return d.driver.Rewrite(ctx, o, h, line) })
}

// Move implements fleet.Driver.
func (d outsideDriver) Move(_ context.Context, o fleet.Own, archived bool) error {
	return d.do(func(ctx context.Context) error { return d.driver.Move(ctx, o, archived) })
}

// Rename implements fleet.Driver.
func (d outsideDriver) Rename(_ context.Context, id, name string) error {
	return d.do(func(ctx context.Context) error { return d.driver.Rename(ctx, id, name) })
}

// Delete implements fleet.Driver.
func (d outsideDriver) Delete(_ context.Context, o fleet.Own) error {
	return d.do(func(ctx context.Context) error { return d.driver.Delete(ctx, o) })
}

// AddMessages implements fleet.Driver.
func (d outsideDriver) AddMessages(_ context.Context, o fleet.Own, from, upTo int64, messages []fleet.Message) error {
	return d.do(func(ctx context.Context) error { return d.driver.AddMessages(ctx, o, from, upTo, messages) })
}

// Indexed implements fleet.Driver.
func (d outsideDriver) Indexed(_ context.Context, id string) (int64, error) {
	return call(d.outside, func(ctx context.Context) (int64, error) { return d.driver.Indexed(ctx, id) })
}

// Interrupted implements fleet.Driver.
func (d outsideDriver) Interrupted(_ context.Context, limit int) (ids []string, next time.Duration, err error) {
	ids, err = call(d.outside, func(ctx context.Context) (found []string, err error) {
		found, next, err = d.driver.Interrupted(ctx, limit)
		return found, err
	})
	return ids, next, err
}

// Find implements fleet.Driver.
func (d outsideDriver) Find(_ context.Context, id string) (fleet.Place, error) {
	return call(d.outside, func(ctx context.Context) (fleet.Place, error) { return d.driver.Find(ctx, id) })
}

// List implements fleet.Driver.
func (d outsideDriver) List(_ context.Context, q listing.Query) (fleet.Page, error) {
	return call(d.outside, func(ctx context.Context) (fleet.Page, error) { return d.driver.List(ctx, q) })
}

// Search implements fleet.Driver.
func (d outsideDriver) Search(_ context.Context, q listing.Query) (fleet.Hits, error) {
	return call(d.outside, func(ctx context.Context) (fleet.Hits, error) { return d.driver.Search(ctx, q) })
}

// Usage implements fleet.Driver.
func (d outsideDriver) Usage(_ context.Context) (fleet.Usage, error) {
	return call(d.outside, func(ctx context.Context) (fleet.Usage, error) { return d.driver.Usage(ctx) })
}

// Close implements fleet.Driver.
func (d outsideDriver) Close() error {
	return d.do(func(context.Context) error { return d.driver.Close() })
}
