export { errorTable } from './errors/error-table.ts';
export { type InterfaceConfig, readInterfaceConfig } from './interface-config.ts';
export { type InterfaceCode, type InterfaceServiceOptions, startInterfaceService } from './interface-service.ts';
export type { InterfacePlugin } from './plugins/interface-plugin.ts';
export { requestLimits } from './request-limits.ts';
export { createSchemaBuilder, type InterfaceSchemaBuilder, type ObjectTypeRef } from './schema/builder.ts';
export { defaultCostLimit } from './cost/open-cost-buckets.ts';
export { addAccount } from './schema/add-account.ts';
export { acceptAnyId, type CheckId, requireIdOfType } from './schema/check-id.ts';
export { addConnections, type ConnectionOf } from './schema/connection.ts';
export {
  type InterfaceActionContext,
  type OperationContext,
  type OwnContext,
  ownContext,
} from './schema/operation-context.ts';
export { addMutation } from './schema/add-mutation.ts';
export { startInterface, type StartInterfaceOptions } from './start-interface.ts';
export { type Contract, serveContract, type ServedContract } from './versions/serve-contract.ts';
export type { InterfaceAlarm } from './webhooks/open-pull.ts';
export { addWebhooks } from './webhooks/webhooks.ts';
