import type { ServiceContext } from '../../host/contracts/service.ts';

/** Services of the host that a client is given a part of. */
export type ServerParts = Pick<
  ServiceContext,
  'assistantName' | 'store' | 'tools' | 'ask' | 'readGroupFile' | 'groupsDir' | 'setTimer' | 'log'
> & {
  /** Names of further tools that programs may call; a star stands for any letters. */
  readonly moreTools: readonly string[];
};
