import { createServer, type RequestListener } from 'node:http';
import { listen, missing } from '@deedwire/testing';
import { nodeHandler } from '@deedwire/webhook-receiver/node';
import { createKitReceiver } from './kit-receiver.ts';
import { type Observed, observe } from './observe.ts';

/** Two receivers with one address, which receive requests in turn, as from a load balancer. They share a database. */
export interface Instances extends Observed {
  /** The callback URL. */
  url: string;
  /** Replaces one of them by a receiver with other secrets, and resolves when the requests of the replaced one have ended. */
  deploy(instance: 0 | 1, secrets: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

interface Instance {
  handle: RequestListener;
  close(): Promise<void>;
}

export async function startInstances(databaseUrl: string, secrets: readonly string[]): Promise<Instances> {
  const create = (ofInstance: readonly string[]): Instance => {
    const receiver = createKitReceiver({ databaseUrl, secrets: ofInstance });
    const handle = nodeHandler(receiver);
    return { handle: (request, response) => handle(request, response), close: receiver.close };
  };
  const instances = [create(secrets), create(secrets)];
  let turn = 0;
  const server = createServer((request, response) => {
    turn += 1;
    (instances[turn % instances.length] ?? missing()).handle(request, response);
  });
  const observed = observe(server);
  const listening = await listen(server);
  return {
    ...observed,
    url: `http://127.0.0.1:${listening.port}/`,
    async deploy(instance, changed) {
      await instances.splice(instance, 1, create(changed))[0]?.close();
    },
    async close() {
      await Promise.all(instances.map((instance) => instance.close()));
      await listening.close();
    },
  };
}
