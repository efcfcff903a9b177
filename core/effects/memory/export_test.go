package memory

// Exact leaves out all similar words.
func (o *Options) Exact() { o.minSimilar = 1 }

// Roots leaves out words that are similar by their trigrams only.
func (o *Options) Roots() { o.minSimilar = 0.9 }
