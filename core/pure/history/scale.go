package history

// Scale has the factors for the counts of a model: one for Latin text and code, and one for other scripts. Tokenizers
// differ little in the first, and much in the second.
type Scale struct{ Latin, Other float64 }

// unscaled returns the scale before the first report.
func unscaled() Scale { return Scale{1, 1} }

// Of returns a count as the provider would report it.
func (s Scale) Of(t Tokens) int64 { return int64(s.exactly(t) + 0.5) }

func (s Scale) exactly(t Tokens) float64 {
	return s.Latin*float64(t.All-t.Other) + s.Other*float64(t.Other)
}

// Max returns the most that a token of a count can cost, and at least 1.
func (s Scale) Max() float64 { return max(s.Latin, s.Other, 1) }

const (
	// tolerance is the accepted relative difference between a scale and that of the reports.
	tolerance = 0.02
	// minScale and maxScale bound the scales that are believed.
	minScale, maxScale = 0.25, 4
)

func near(a, b float64) bool { return a <= b*(1+tolerance) && b <= a*(1+tolerance) }

func bounded(scale float64) float64 { return min(max(scale, minScale), maxScale) }

// scaleFit fits a, d and c in a*all + d*other + c = report by least squares. The factor of Latin text is a, the factor
// of other scripts is a+d. The constant cost of a request is c, in thousands of tokens. The fields are sums over the
// reports of a model. Each row is divided by its report. Later reports weigh more.
type scaleFit struct {
	AllAll, AllOther, AllRest, OtherOther, OtherRest, RestRest float64
	All, Other, Rest                                           float64
}

const (
	// fitDecay is the weight of the reports so far beside a new one.
	fitDecay = 0.95
	// contradiction is the relative error of a report that discards the earlier ones: the provider has changed its
	// tokenizer.
	contradiction = 0.25
	// frameError is the usual error of a report in tokens, because providers frame messages and calls differently.
	frameError = 30
	// usualError is the usual relative error of a large report, usualDifference that of two factors, and usualRest the
	// usual rest, in thousands of tokens.
	usualError, usualDifference, usualRest = 0.005, 0.3, 0.5
)

// with adds a report. Reports of small requests have a large relative error, and so a small weight.
func (f scaleFit) with(counted Tokens, reported int64) scaleFit {
	size := float64(reported)
	weight := 1 / (1 + frameError*frameError/(usualError*usualError*size*size))
	all, other, rest := float64(counted.All)/size, float64(counted.Other)/size, 1000/size
	return scaleFit{
		f.AllAll*fitDecay + weight*all*all, f.AllOther*fitDecay + weight*all*other, f.AllRest*fitDecay + weight*all*rest,
		f.OtherOther*fitDecay + weight*other*other, f.OtherRest*fitDecay + weight*other*rest,
		f.RestRest*fitDecay + weight*rest*rest,
		f.All*fitDecay + weight*all, f.Other*fitDecay + weight*other, f.Rest*fitDecay + weight*rest,
	}
}

// scale returns the factors. One report gives both the same factor, and no rest.
func (f scaleFit) scale() Scale {
	const differencePrior = (usualError / usualDifference) * (usualError / usualDifference)
	const restPrior = (usualError / usualRest) * (usualError / usualRest)
	// The equations without a.
	dd := f.OtherOther - f.AllOther*f.AllOther/f.AllAll + differencePrior
	dc := f.OtherRest - f.AllOther*f.AllRest/f.AllAll
	cc := f.RestRest - f.AllRest*f.AllRest/f.AllAll + restPrior
	d1 := f.Other - f.AllOther*f.All/f.AllAll
	c1 := f.Rest - f.AllRest*f.All/f.AllAll
	determinant := dd*cc - dc*dc
	d, c := (d1*cc-c1*dc)/determinant, (c1*dd-d1*dc)/determinant
	a := (f.All - d*f.AllOther - c*f.AllRest) / f.AllAll
	return Scale{bounded(a), bounded(a + d)}
}
