import { join } from 'node:path';
import { type Layout, readLayout } from '../src/layout.ts';
import { workspaceRoot } from '../src/read-json.ts';

/** The layout of the test service. */
export const testLayout = (): Promise<Layout> => readLayout(join(workspaceRoot, 'tools/test-service'));
