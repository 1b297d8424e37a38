import { type Debugger, Session } from 'node:inspector/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { workspaceRoot } from './workspace-copy.ts';

/** Records in which order code of the traced files runs in this process. */
export interface ExecutionTrace {
  /** Paths in the order in which their code ran. A path can occur many times. */
  readonly paths: readonly string[];
  readonly stop: () => void;
}

// Vite writes one such line for each export. Whoever reads an import runs it, without running the file.
const exportLine = '__vite_ssr_exportName__';

/**
 * Traces files that this process has loaded. Breakpoints record the order; their conditions are false, so that none stops
 * the process.
 *
 * @param paths relative to the root of the workspace
 */
export async function traceExecution(paths: readonly string[]): Promise<ExecutionTrace> {
  const trace: string[] = [];
  const session = new Session();
  const scripts = new Map<string, string>();
  session.on('Debugger.scriptParsed', ({ params: { url, scriptId } }) => scripts.set(url, scriptId));
  session.connect();
  await session.post('Debugger.enable');
  Reflect.set(globalThis, 'executionTrace', trace);
  for (const path of paths) {
    const scriptId = scripts.get(pathToFileURL(join(workspaceRoot, path)).href);
    if (scriptId === undefined) throw new Error(`The apps do not load ${path}.`);
    const { scriptSource } = await session.post('Debugger.getScriptSource', { scriptId });
    const lines = scriptSource.split('\n');
    const start: Debugger.Location = { scriptId, lineNumber: 0 };
    const { locations } = await session.post('Debugger.getPossibleBreakpoints', { start });
    const lineNumbers = new Set(locations.map(({ lineNumber }) => lineNumber));
    for (const lineNumber of lineNumbers) {
      if (lines[lineNumber]?.includes(exportLine) === true) continue;
      const condition = `executionTrace.push(${JSON.stringify(path)}) && false`;
      await session.post('Debugger.setBreakpoint', { location: { scriptId, lineNumber }, condition });
    }
  }
  return {
    paths: trace,
    stop() {
      session.disconnect();
      Reflect.deleteProperty(globalThis, 'executionTrace');
    },
  };
}
