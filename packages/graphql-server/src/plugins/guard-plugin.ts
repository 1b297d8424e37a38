import type { Deadlines } from '@deedwire/store';
import { withDeadline } from '../operation/deadline.ts';
import type { RequestContext, RequestPlugin } from './exchange.ts';
import type { InterfacePlugin } from './interface-plugin.ts';
import { refuse } from './use-response.ts';

/** A plugin replaces a part of the contract. The app does not start with it. */
export class PluginRefusedError extends Error {
  override readonly name = 'PluginRefusedError';
}

const hooks = [
  'onPluginInit',
  'onSchemaChange',
  'onRequest',
  'onRequestParse',
  'onRequestParseDone',
  'onParams',
  'onEnveloped',
  'onParse',
  'onValidate',
  'onContextBuilding',
  'onExecute',
  'onExecuteDone',
  'onExecutionResult',
  'onResultProcess',
  'onResponse',
] as const;

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

type Callable = (argument: unknown) => unknown;
type Payload = Readonly<Record<string, unknown>>;

/** Returns a plugin whose hooks cannot replace what the interface promises, and have a time limit. */
export function guardPlugin(plugin: InterfacePlugin, name: string, deadlines: Deadlines): InterfacePlugin {
  if (typeof plugin !== 'object')
    throw new PluginRefusedError(`${name} is not an object. Call the function that creates it.`);

  function guardHooks(hooked: object, where: string): object {
    const own = hooks.flatMap((hook) => {
      const call: unknown = Reflect.get(hooked, hook);
      return isCallable(call) ? [[hook, guardHook(call, `${where}.${hook}`, hook)] as const] : [];
    });
    return Object.assign(Object.create(hooked), Object.fromEntries(own));
  }

  function guardHook(call: Callable, where: string, hook: string): Callable {
    return (argument) => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Yoga and Envelop pass objects
      const payload = argument as Payload;
      const fail = (error: unknown): void => setError(error, payload, hook);
      try {
        const result = withDeadline(where, deadlines, () => call(guardPayload(payload, where)));
        if (!(result instanceof Promise)) return guardResult(result, where);
        return result.then((later: unknown) => guardResult(later, where)).catch(fail);
      } catch (error) {
        return fail(error);
      }
    };
  }

  /** A hook can return further ones. */
  function guardResult(result: unknown, where: string): unknown {
    if (isCallable(result)) return guardHook(result, where, 'done');
    return typeof result === 'object' && result !== null ? guardHooks(result, where) : result;
  }

  function guardPayload(payload: Payload, where: string): Payload {
    const guarded: Record<string, unknown> = { ...payload };
    for (const setter of refusedSetters) {
      if (!(setter in guarded)) continue;
      guarded[setter] = () => {
        throw new PluginRefusedError(`${where} calls ${setter}, which would replace a part of the contract.`);
      };
    }
    const { addPlugin, setExecuteFn } = payload;
    if (isCallable(addPlugin))
      guarded['addPlugin'] = (added: object) => addPlugin(guardPlugin(added, `a plugin of ${name}`, deadlines));
    // Yoga's own would skip the hooks that follow, and with them the charge.
    if (isCallable(setExecuteFn))
      guarded['setResultAndStopExecution'] = (result: unknown) => setExecuteFn(() => result);
    return guarded;
  }

  return guardHooks(plugin, name);
}

function setError(error: unknown, payload: Payload, hook: string): void {
  const set = payload[settersOfErrors[hook] ?? ''];
  if (!isCallable(set)) throw error;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as Yoga passes it to these hooks
  const { exchange } = payload['serverContext'] as RequestContext;
  set(hook === 'onResultProcess' ? { errors: [error] } : refuse(exchange, error));
}

/** Comes before the plugins of an app: they add properties to the context of resolvers, and replace none. */
export const keepContext: RequestPlugin = {
  onContextBuilding({ context }) {
    for (const name of Object.keys(context)) Object.defineProperty(context, name, { writable: false });
  },
};

function isCallable(value: unknown): value is Callable {
  return typeof value === 'function';
}
