import { defineConfig } from 'vite';
import { Subscriptions } from './src/generated/documents.ts';

export default defineConfig({
  // The server replaces `./assets/` in index.html by the path of the account.
  base: './',
  // `pnpm generate` writes documents.json there: the operations that the server accepts.
  publicDir: 'generated',
  define: { firstQuery: JSON.stringify(Subscriptions) },
  // Our packages from their sources.
  resolve: { conditions: ['deedwire-source', 'module', 'browser'] },
  // `jsx-runtime.ts` also serves builds for development.
  oxc: { jsx: { development: false } },
  build: {
    // `light-dark()` needs them. Methods of later ones are refused by `lib` in tsconfig.json and by a rule of the linter.
    target: ['chrome123', 'firefox120', 'safari17.5'],
    // Needs lightningcss, which is not installed.
    cssMinify: false,
    // Older browsers load modules without it, and it would be an inline script.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    rolldownOptions: {
      input: { index: 'index.html', reload: 'src/reload.ts' },
      output: {
        entryFileNames: ({ name }) => (name === 'reload' ? 'assets/reload.js' : 'assets/[name]-[hash].js'),
      },
    },
  },
});
