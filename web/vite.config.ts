import { defineConfig, type Plugin } from 'vite';
import { gzipSync } from 'node:zlib';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Puts a compressed copy next to every file that shrinks, for the server to send. */
function compressed(): Plugin {
  return {
    name: 'compressed',
    apply: 'build',
    closeBundle() {
      const files = readdirSync('dist', { recursive: true, withFileTypes: true });
      for (const file of files.filter((f) => f.isFile() && !f.name.endsWith('.gz'))) {
        const path = join(file.parentPath, file.name);
        const plain = readFileSync(path);
        const small = gzipSync(plain, { level: 9 });
        if (small.length < plain.length * 0.9) writeFileSync(`${path}.gz`, small);
      }
    },
  };
}

export default defineConfig({
  base: './',
  plugins: [compressed()],
  build: { target: 'es2022', chunkSizeWarningLimit: 900 },
  server: { proxy: { '/v1': { target: 'http://127.0.0.1:7077', ws: true } } },
});
