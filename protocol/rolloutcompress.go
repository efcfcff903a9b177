package protocol

// RolloutCompressParams starts the compression of rollouts that were not written to for seven days, in the background.
// The response does not mean that any was compressed.
type RolloutCompressParams struct{}
