import type { RoutedTurn, RouterCall } from '../../model/router.ts';
import type { CallService } from '../contracts/service-call.ts';
import type { Services } from './services.ts';

/**
 * Creates the way to the services from a turn whose agent has not begun.
 *
 * @param signal aborted when the turn ends first
 */
export function callBeforeAgent(
  services: Pick<Services, 'call'>,
  { id, jid, folder }: { readonly id: string; readonly jid: string; readonly folder: string },
  signal: AbortSignal,
): CallService {
  const caller = { folder, jid, turn: id, signal };
  return (service, request) => services.call(service, request, caller);
}

/** Creates a router's access to the services, for one turn; undefined if no turn is about to run. */
export function callFromRouter(
  services: Pick<Services, 'call'>,
  { id, jid, group: { folder } }: RoutedTurn,
  endOf: (turn: string) => AbortSignal,
): RouterCall['callService'] | undefined {
  if (id === undefined || jid === undefined) return undefined;
  return callBeforeAgent(services, { id, jid, folder }, endOf(id));
}
