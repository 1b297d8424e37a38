export { type ConnectProxy, type ConnectProxyOptions, startConnectProxy } from './connect-proxy.ts';
export { eventually, untilBlocked } from './eventually.ts';
export {
  acknowledge,
  echoToken,
  startReceiver,
  type ReceivedRequest,
  type Receiver,
  type ReceiverOptions,
  type Respond,
} from './fake-receiver.ts';
export {
  createClient,
  credentialHeaders,
  postGraphql,
  type Client,
  type Credential,
  type GraphqlError,
  type GraphqlResponse,
  type GraphqlResult,
} from './graphql-client.ts';
export { listen, type Listening } from './listen.ts';
export {
  blocksOf,
  commandsOf,
  findProgram,
  isCommand,
  type PageBlock,
  readReceiverKitPages,
  receiverKitBlock,
} from './page-commands.ts';
export { type Choose, writeRandomDocument } from './random-document.ts';
export { startRawReceiver, type RawReceiver } from './raw-receiver.ts';
export { richSchema } from './rich-schema.ts';
export { connect, type Connection } from './sql-connection.ts';
export { startTcpProxy, type StatementFault, type TcpProxy } from './tcp-proxy.ts';
export { compileCache, missing, patientTimeouts, seededRandom, unknownGids } from './values.ts';
