/** Runs an attack for each message, an `AttackRequest`, and answers with its `AttackResult`. Ends with its parent. */
import { type AttackRequest, attacks } from './attacks/index.ts';

process.on('message', (request: AttackRequest) => {
  void attacks[request.name].run(request).then((result) => process.send?.(result));
});
process.once('disconnect', () => process.exit(0));
process.send?.('ready');
