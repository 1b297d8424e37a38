import type { Logger } from '@deedwire/service-runtime';
import { isPromiseLike, withDeadline } from '../operation/deadline.ts';
import { OperationPauses } from '../operation/operation-pauses.ts';
import type { InterfacePlugin } from './interface-plugin.ts';
import type { RequestContext, RequestPlugin } from './request-state.ts';
import { refuse } from './use-response.ts';

/** A plugin replaces a part of the contract. The app does not start with it. */
export class PluginRefusedError extends Error {
  override readonly name = 'PluginRefusedError';
}

/** The functions of an object. Yoga and Envelop do not wait for the promises of `synchronous` ones. */
interface Guarded {
  synchronous: readonly string[];
  awaited: readonly string[];
}

const hooks: Guarded = {
  synchronous: ['onPluginInit', 'onSchemaChange', 'onEnveloped', 'onParse', 'onValidate'],
  awaited: [
    'onRequest',
    'onRequestParse',
    'onRequestParseDone',
    'onParams',
    'onContextBuilding',
    'onExecute',
    'onExecuteDone',
    'onExecutionResult',
    'onResultProcess',
    'onResponse',
  ],
};

/** Of `instrumentation`. They get the step that they go around. */
const steps: Guarded = {
  synchronous: ['init', 'parse', 'validate', 'context'],
  awaited: ['request', 'requestParse', 'operation', 'execute', 'resultProcess'],
};

/** They would replace the schema, our steps or the form of the response. */
const refusedSetters = [
  'setSchema',
  'replaceSchema',
  'setRequestHandler',
  'setRequestParser',
  'setParseFn',
  'setValidationFn',
  'setResultProcessor',
] as const;

/** Yoga does not catch what these hooks throw. The error takes the place of what they can set. */
const settersOfErrors: Readonly<Record<string, string>> = {
  onRequest: 'endResponse',
  onResultProcess: 'setResult',
  onResponse: 'setResponse',
};

type Callable = (argument: unknown, step?: () => unknown) => unknown;
type Payload = Readonly<Record<string, unknown>>;

/** Returns a plugin whose hooks cannot replace what the interface promises, and have a time limit. */
export function guardPlugin(plugin: InterfacePlugin, name: string, operationMs: number): InterfacePlugin {
  if (typeof plugin !== 'object')
    throw new PluginRefusedError(`${name} is not an object. Call the function that creates it.`);

  function guardFunctions(of: object, where: string, { synchronous, awaited }: Guarded): object {
    const guarded: object = Object.create(of);
    for (const hook of [...synchronous, ...awaited]) {
      const call: unknown = Reflect.get(of, hook);
      const guard = synchronous.includes(hook) ? guardSynchronous : guardAwaited;
      if (isCallable(call)) Object.assign(guarded, { [hook]: guard(call, `${where}.${hook}`, hook) });
    }
    return guarded;
  }

  function guardSynchronous(call: Callable, where: string): Callable {
    return (argument, step) => {
      const result = call(guardPayload(argument, where), step);
      if (!isPromiseLike(result)) return isCallable(result) ? guardSynchronous(result, where) : result;
      // Its rejection would end the process.
      Promise.resolve(result).catch(() => {});
      throw new PluginRefusedError(`${where} returns a promise, but Yoga and Envelop do not wait for it.`);
    };
  }

  function guardAwaited(call: Callable, where: string, hook: string): Callable {
    return (argument, step) => {
      const fail = (error: unknown): void => setError(error, argument, hook);
      const pauses = step && new OperationPauses();
      const run = (): unknown => call(guardPayload(argument, where), pauses && (() => pauses.during(step)));
      try {
        const result = withDeadline(where, operationMs, run, { pauses });
        if (!(result instanceof Promise)) return guardResult(result, where);
        return result.then((later: unknown) => guardResult(later, where)).catch(fail);
      } catch (error) {
        return fail(error);
      }
    };
  }

  /** A hook can return further ones. */
  function guardResult(result: unknown, where: string): unknown {
    if (isCallable(result)) return guardAwaited(result, where, 'done');
    return typeof result === 'object' && result !== null ? guardFunctions(result, where, hooks) : result;
  }

  function guardPayload(argument: unknown, where: string): Payload {
    const payload = payloadOf(argument);
    const guarded: Record<string, unknown> = { ...payload };
    for (const setter of refusedSetters) {
      if (!(setter in guarded)) continue;
      guarded[setter] = () => {
        throw new PluginRefusedError(`${where} calls ${setter}, which would replace a part of the contract.`);
      };
    }
    const { plugins, addPlugin, setExecuteFn, paramsHandler, setParamsHandler } = payload;
    if (Array.isArray(plugins)) guarded['plugins'] = fixedList(plugins, where);
    if (isCallable(addPlugin))
      guarded['addPlugin'] = (added: object) => addPlugin(guardPlugin(added, `a plugin of ${name}`, operationMs));
    // Yoga's own would skip the hooks that follow, and with them the charge.
    if (isCallable(setExecuteFn))
      guarded['setResultAndStopExecution'] = (result: unknown) => setExecuteFn(() => result);
    if (isCallable(setParamsHandler) && isCallable(paramsHandler)) {
      const pauses = new OperationPauses();
      guarded['paramsHandler'] = (given: unknown) => pauses.during(() => paramsHandler(given));
      guarded['setParamsHandler'] = (handler: Callable) =>
        setParamsHandler((given: unknown) => withDeadline(where, operationMs, () => handler(given), { pauses }));
    }
    return guarded;
  }

  const guarded = guardFunctions(plugin, name, hooks);
  if (!('instrumentation' in plugin) || typeof plugin.instrumentation !== 'object' || plugin.instrumentation === null)
    return guarded;
  const instrumentation = guardFunctions(plugin.instrumentation, `${name}.instrumentation`, steps);
  return Object.assign(guarded, { instrumentation });
}

function payloadOf(argument: unknown): Payload {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Yoga and Envelop pass objects
  return argument as Payload;
}

function setError(error: unknown, argument: unknown, hook: string): void {
  const payload = payloadOf(argument);
  const set = payload[settersOfErrors[hook] ?? ''];
  if (!isCallable(set)) throw error;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as Yoga passes it to these hooks
  const { requestState: state } = payload['serverContext'] as RequestContext;
  set(hook === 'onResultProcess' ? { errors: [error] } : refuse(state, error));
}

/** What a plugin pushed would not be guarded. */
function fixedList(plugins: readonly unknown[], where: string): readonly unknown[] {
  return new Proxy([...plugins], {
    set() {
      throw new PluginRefusedError(`${where} changes the list of plugins. Call addPlugin instead.`);
    },
  });
}

/** Comes before the plugins of an app: they add properties to contexts, and replace none. */
export function keepContext(logger: Logger): RequestPlugin {
  const waitUntil = (work: unknown): void => {
    Promise.resolve(work).catch((error: unknown) => logger.error({ err: error }, 'work of a plugin failed'));
  };
  return {
    onRequest({ serverContext }) {
      keep(Object.assign(serverContext, { waitUntil }));
    },
    onParams({ context: { requestState: state } }) {
      state.params = undefined;
    },
    onContextBuilding: ({ context }) => keep(context),
  };
}

function keep(context: object): void {
  for (const name of Object.keys(context)) Object.defineProperty(context, name, { writable: false });
}

function isCallable(value: unknown): value is Callable {
  return typeof value === 'function';
}
