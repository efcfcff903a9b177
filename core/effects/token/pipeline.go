package token

import "iter"

// batchTexts and batchBytes bound a batch of CountAll, except for its last text. queuedBatches may wait.
const (
	batchTexts    = 256
	batchBytes    = 64 << 10
	queuedBatches = 16
)

// CountAll returns the counts of texts, in order. Another goroutine counts them while the next ones are made.
func (c *Counter) CountAll(model string, texts iter.Seq[string]) []int {
	queue, counted := make(chan []string, queuedBatches), make(chan countedTexts, 1)
	go func() { counted <- c.countBatches(model, queue) }()
	sendBatches(texts, queue)
	all := <-counted
	if all.panicked != nil {
		panic(all.panicked)
	}
	return all.tokens
}

func sendBatches(texts iter.Seq[string], queue chan<- []string) {
	defer close(queue)
	var batch []string
	bytes := 0
	for text := range texts {
		batch = append(batch, text)
		if bytes += len(text); len(batch) == batchTexts || bytes >= batchBytes {
			queue <- batch
			batch, bytes = nil, 0
		}
	}
	queue <- batch
}

// countedTexts has the counts, or the value of a panic that ended the counting.
type countedTexts struct {
	tokens   []int
	panicked any
}

func (c *Counter) countBatches(model string, queue <-chan []string) (all countedTexts) {
	defer func() {
		if all.panicked = recover(); all.panicked != nil {
			for range queue { // the sender may wait
			}
		}
	}()
	for batch := range queue {
		for _, text := range batch {
			all.tokens = append(all.tokens, c.Count(model, text))
		}
	}
	return all
}
