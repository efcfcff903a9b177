package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// BenchmarkList asks for the first page over so many threads: cold in a home without an
// index, by the files; warm with an index that is built.
func BenchmarkList(b *testing.B) {
	for _, count := range []int{2000, 10_000} {
		home := b.TempDir()
		writeThreads(b, home, count, 2)
		for _, params := range []object{{}, {"sortKey": "updated_at"}, {"searchTerm": "question 77"}} {
			b.Run(fmt.Sprintf("cold/%d/%v", count, params), func(b *testing.B) { benchCold(b, home, params) })
		}
		c := benchServer(b, home)
		awaitIndex(c)
		for _, params := range []object{{}, {"sortKey": "updated_at"}, {"searchTerm": "question 77"}} {
			b.Run(fmt.Sprintf("warm/%d/%v", count, params), func(b *testing.B) {
				for b.Loop() {
					c.call("thread/list", params)
				}
				b.ReportMetric(5, "budget-ms")
				b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(b.N), "ms")
			})
		}
		c.close()
	}
}

// benchCold lists in a new process without an index each time.
func benchCold(b *testing.B, home string, params object) {
	for b.Loop() {
		b.StopTimer()
		removeIndex(b, home)
		c := benchServer(b, home)
		b.StartTimer()
		c.call("thread/list", params)
		b.StopTimer()
		c.kill()
		b.StartTimer()
	}
	removeIndex(b, home)
	b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(b.N), "ms")
}

// BenchmarkSearch searches 10,000 threads for a rare text, one that is in one of a hundred
// threads, and one that is in all.
func BenchmarkSearch(b *testing.B) {
	const count = 10_000
	home := b.TempDir()
	writeThreads(b, home, count, 2)
	c := benchServer(b, home)
	awaitIndex(c)
	for _, term := range []string{"question 7777", "question 77", "question", "no such text"} {
		b.Run(term, func(b *testing.B) {
			for b.Loop() {
				c.call("thread/search", object{"searchTerm": term})
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(b.N), "ms")
		})
	}
	c.close()
}

// BenchmarkIndexBuild reads 2,000 threads of 20 messages and as many outputs of tools.
func BenchmarkIndexBuild(b *testing.B) {
	const count = 2000
	home := b.TempDir()
	size := writeThreads(b, home, count, 20)
	var kib int
	for b.Loop() {
		b.StopTimer()
		removeIndex(b, home)
		c := benchServer(b, home)
		b.StartTimer()
		awaitIndex(c)
		b.StopTimer()
		kib = residentKiB(b, c.cmd.Process.Pid)
		c.close()
		b.StartTimer()
	}
	each := b.Elapsed().Seconds() / float64(b.N)
	b.ReportMetric(count/each, "files/s")
	b.ReportMetric(float64(size)/1e6/each, "MB/s")
	b.ReportMetric(float64(kib)/1024, "MB-resident")
	info, err := os.Stat(filepath.Join(home, "appserver-index.sqlite"))
	require.NoError(b, err)
	b.ReportMetric(float64(info.Size())/float64(size), "index/rollouts")
}

// awaitIndex waits until all threads were read.
func awaitIndex(c *client) {
	for !gjson.GetBytes(c.call("thread/search", object{"searchTerm": "no such text"}), "complete").Bool() {
		<-time.After(time.Millisecond)
	}
	c.seen = nil
}

func removeIndex(b testing.TB, home string) {
	files, err := filepath.Glob(filepath.Join(home, "appserver-index.sqlite*"))
	require.NoError(b, err)
	for _, f := range files {
		require.NoError(b, os.Remove(f))
	}
}
