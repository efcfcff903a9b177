package protocol

// RolloutCompressParams starts the compression of rollouts that were not written for seven days, in
// the background. The response does not mean that any rollout was compressed.
type RolloutCompressParams struct{}
