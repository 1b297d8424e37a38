import { BenchProblem, type BenchOption } from '../bench.ts';
import { processFamilyCpuMs } from '../process-cpu.ts';
import { convoy } from './convoy.ts';
import { outpost } from './outpost.ts';
import type { ServiceApiOptions } from './service-api.ts';
import type { Service } from './service.ts';
import { svix } from './svix.ts';

interface Known {
  tokenVariable: string;
  connect: (options: ServiceApiOptions, cpuMs: Service['cpuMs'], env: NodeJS.ProcessEnv) => Service;
}

const projectVariable = 'CONVOY_PROJECT_ID';

const known: Readonly<Record<string, Known>> = {
  svix: { tokenVariable: 'SVIX_TOKEN', connect: svix },
  outpost: { tokenVariable: 'OUTPOST_API_KEY', connect: outpost },
  convoy: {
    tokenVariable: 'CONVOY_API_KEY',
    connect: (options, cpuMs, env) => convoy({ ...options, projectId: variable(env, projectVariable) }, cpuMs),
  },
};

export const serviceOptions: Readonly<Record<string, BenchOption>> = Object.fromEntries(
  Object.entries(known).flatMap(([name, { tokenVariable }]): [string, BenchOption][] => {
    const variables = name === 'convoy' ? `${tokenVariable} and ${projectVariable}` : tokenVariable;
    return [
      [name, { value: 'URL', summary: `a running ${name}; its token in ${variables}` }],
      [`${name}-pids`, { value: 'numbers', summary: 'its processes, for their CPU time, with its stores: 123,456' }],
    ];
  }),
);

/**
 * The services that the command line names.
 *
 * @param values of `serviceOptions`
 * @throws {BenchProblem} for an invalid URL, a missing token or a process that does not exist
 */
export function connectServices(values: Readonly<Record<string, string>>, env: NodeJS.ProcessEnv): Service[] {
  return Object.entries(known).flatMap(([name, { tokenVariable, connect }]) => {
    const [url, pids] = [values[name], values[`${name}-pids`]];
    if (url === undefined) {
      if (pids !== undefined) throw new BenchProblem(`--${name}-pids needs --${name} <URL>.`);
      return [];
    }
    if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
      throw new BenchProblem(`--${name} must be a URL such as http://127.0.0.1:8080, not "${url}".`);
    const options = { name, url, token: variable(env, tokenVariable), tokenVariable };
    return [connect(options, cpuOf(`--${name}-pids`, pids), env)];
  });
}

function variable(env: NodeJS.ProcessEnv, name: string): string {
  const value = env[name];
  if (value === undefined || value === '') throw new BenchProblem(`The environment variable ${name} must be set.`);
  return value;
}

/** The CPU time of processes and of their children. */
function cpuOf(option: string, pids: string | undefined): Service['cpuMs'] {
  if (pids === undefined) return async () => null;
  if (!/^\d+(,\d+)*$/.test(pids)) throw new BenchProblem(`${option} must be numbers such as 123,456, not "${pids}".`);
  const numbers = pids.split(',').map(Number);
  const read = (): number =>
    numbers.reduce((sum, pid) => {
      const cpuMs = processFamilyCpuMs(pid);
      if (cpuMs === null) throw new BenchProblem(`There is no process "${pid}", which ${option} names.`);
      return sum + cpuMs;
    }, 0);
  read();
  return async () => read();
}
