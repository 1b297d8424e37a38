#!/usr/bin/env node
import { createRequire } from 'node:module';
import { checkNode } from '@deedwire/service-runtime/check-node';

// `require`, because an import of a file outside of `src` does not compile.
checkNode(createRequire(import.meta.url)('../package.json'));
await import('./cli/main.ts');
