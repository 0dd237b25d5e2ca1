package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/docker/docker/api/types/container"
)

// folder holds the guard inside a container. It belongs to root.
const folder = ".toold"

// errNoGuard says that there is no guard that would run in the container.
var errNoGuard = errors.New("no guard for this container")

// guardFile is the guard's binary on this machine.
type guardFile struct {
	path string

	once sync.Once // guards what follows
	err  error
	arch elf.Machine
	name string // its path inside a container
}

// machines are the engine's words for architectures.
var machines = map[string]elf.Machine{
	"amd64": elf.EM_X86_64, "x86_64": elf.EM_X86_64, "arm64": elf.EM_AARCH64, "aarch64": elf.EM_AARCH64,
	"386": elf.EM_386, "arm": elf.EM_ARM, "riscv64": elf.EM_RISCV, "ppc64le": elf.EM_PPC64, "s390x": elf.EM_S390,
}

// load looks at the binary once: whether it runs without the libraries of this machine, and its name, which has its
// digest so that a newer daemon does not use an older guard.
func (b *guardFile) load() error {
	b.once.Do(func() {
		if b.path == "" {
			b.err = errNoGuard
			return
		}
		b.err = b.inspect()
	})
	return b.err
}

func (b *guardFile) inspect() error {
	f, err := os.Open(b.path)
	if err != nil {
		return fmt.Errorf("%w: %w", errNoGuard, err)
	}
	defer f.Close()
	exe, err := elf.NewFile(f)
	if err != nil {
		return fmt.Errorf("%w: %w", errNoGuard, err)
	}
	for _, p := range exe.Progs {
		if p.Type == elf.PT_INTERP {
			return fmt.Errorf("%w: %s is not static", errNoGuard, b.path)
		}
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return fmt.Errorf("%w: %w", errNoGuard, err)
	}
	b.arch = exe.Machine
	b.name = "/" + folder + "/guard-" + hex.EncodeToString(sum.Sum(nil)[:6])
	return nil
}

// install copies the guard into a container.
func (e *Engine) install(ctx context.Context, id, image string) error {
	b := e.guard
	if err := b.load(); err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(ctx, slow)
	defer stop()
	if found, err := e.api.ImageInspect(ctx, image); err == nil && (found.Os != "linux" || machines[found.Architecture] != b.arch) {
		return fmt.Errorf("%w: it is for %s/%s", errNoGuard, found.Os, found.Architecture)
	}
	content, err := os.ReadFile(b.path)
	if err != nil {
		return fmt.Errorf("%w: %w", errNoGuard, err)
	}
	archive, err := pack(b.name[1:], content)
	if err != nil {
		return fmt.Errorf("%w: %w", errNoGuard, err)
	}
	if err := e.api.CopyToContainer(ctx, id, "/", archive, container.CopyToContainerOptions{}); err != nil {
		return fmt.Errorf("%w: %w", errNoGuard, err)
	}
	return nil
}

// pack makes the archive that holds the guard.
func pack(name string, content []byte) (io.Reader, error) {
	var head, tail bytes.Buffer
	w := tar.NewWriter(&head)
	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: folder + "/", Mode: 0o755}); err != nil {
		return nil, err
	}
	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o755, Size: int64(len(content))}); err != nil {
		return nil, err
	}
	tail.Write(make([]byte, (512-len(content)%512)%512+1024)) // the padding, and the archive's end
	return io.MultiReader(&head, bytes.NewReader(content), &tail), nil
}
