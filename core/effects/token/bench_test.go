package token_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"appserver/core/effects/token"

	"github.com/stretchr/testify/require"
)

// filesText returns all that the repository has in files of these patterns.
func filesText(b *testing.B, patterns ...string) string {
	var text strings.Builder
	for _, pattern := range patterns {
		names, err := filepath.Glob(pattern)
		require.NoError(b, err)
		for _, name := range names {
			data, err := os.ReadFile(name)
			require.NoError(b, err)
			text.Write(data)
		}
	}
	require.NotZero(b, text.Len())
	return text.String()
}

// phrasesText returns 200 KB of phrases in a random order, each followed by a comma.
func phrasesText() string {
	phrases := strings.Fields("我们 在学习中文 和数学 人工智能 的发展 非常迅速 今天天气很好 请打开文件 这个函数 返回一个值 " +
		"如果 发生错误 就会 停止 运行 これは 日本語の 文章です 東京に 行きます 明日 会議があります 設定を 変更して ください")
	random := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	for text.Len() < 200<<10 {
		for range 1 + random.IntN(3) {
			text.WriteString(phrases[random.IntN(len(phrases))])
		}
		text.WriteString("，")
	}
	return text.String()
}

// BenchmarkCount has the tables loaded. Cold counters keep no counts yet.
func BenchmarkCount(b *testing.B) {
	kinds := []struct{ name, text string }{
		{"prose", filesText(b, "../../../*.md", "../../../docs/*.md")},
		{"code", filesText(b, "../../*.go", "../*/*.go")},
		{"json", filesText(b, "../../../schema/json/*.json")},
		{"cjk", phrasesText()},
	}
	for _, kind := range kinds {
		b.Run(kind.name+"/cold", func(b *testing.B) {
			b.SetBytes(int64(len(kind.text)))
			for b.Loop() {
				b.StopTimer()
				c := token.New()
				c.Prepare("gpt-5")
				b.StartTimer()
				c.Count("gpt-5", kind.text)
			}
		})
		b.Run(kind.name+"/warm", func(b *testing.B) {
			b.SetBytes(int64(len(kind.text)))
			c := token.New()
			c.Count("gpt-5", kind.text)
			for b.Loop() {
				c.Count("gpt-5", kind.text)
			}
		})
	}
}

func BenchmarkCountAtOnce(b *testing.B) {
	text := filesText(b, "../../*.go", "../*/*.go")
	c := token.New()
	c.Count("gpt-5", text)
	b.SetBytes(int64(len(text)))
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			c.Count("gpt-5", text)
		}
	})
}

// BenchmarkPrepare loads the tables.
func BenchmarkPrepare(b *testing.B) {
	for b.Loop() {
		token.New().Prepare("gpt-5")
	}
}
