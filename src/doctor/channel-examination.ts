import type { z } from 'zod';
import { isRunning } from '../supervisor/instance-lock.ts';
import {
  defineExamination,
  type Examination,
  type Finding,
  ok,
  problem,
  type Subject,
} from './examination.ts';
import { lastChannelState } from './last-state.ts';

/** The far end's answer to the channel's credentials, in words for the owner. */
export type AccountTrial = {
  readonly ok: boolean;
  /** A sentence that says whose credentials they are (`the bot is @andy_bot`), or why they cannot be used. */
  readonly message: string;
  /** Further findings of the trial that the owner should know. */
  readonly findings?: readonly Finding[];
};

/** A channel with an account at a far end, as far as the doctor goes. */
export type ChannelAccount<S extends z.ZodRawShape, Account> = {
  /** The channel's name. */
  readonly area: string;
  readonly order: number;
  /** Names of the environment, each with a default or optional. */
  readonly settings: z.ZodObject<S>;
  /** How the owner sets it up: `claw setup pigeon`, and what that does, as a sentence. */
  readonly setUp: string;
  /** The finding if the channel is not set up: `no bot yet`. */
  readonly absent: string;
  /** Reads the account out of the settings; null where the channel is not set up. */
  readonly accountOf: (settings: z.output<z.ZodObject<S>>) => Account | null;
  /** Says why these settings cannot be used: nobody may write. Null for nothing. */
  readonly problemOf: (account: Account) => string | null;
  /** Returns the finding that replaces a trial if the doctor may contact no other machine; null for none. */
  readonly untried: (account: Account) => string | null;
  /** Asks the far end; null where there is nothing to ask with. */
  readonly tryAccount: (account: Account) => Promise<AccountTrial | null>;
  /** Returns further findings from the settings. */
  readonly remarks?: (account: Account) => readonly Finding[];
};

/**
 * Defines the examination of a channel with an account: whether the far end takes its credentials, who may write, and
 * how the channel does that runs.
 */
export function defineChannelExamination<S extends z.ZodRawShape, Account>(
  channel: ChannelAccount<S, Account>,
): Examination {
  const { area, order, settings, setUp } = channel;
  return defineExamination({
    area,
    order,
    settings,
    async examine(subject, own) {
      const account = channel.accountOf(own);
      if (account === null) return [ok(area, channel.absent, setUp)];
      const wrong = channel.problemOf(account);
      const others = [
        ...(wrong === null ? [] : [problem(area, wrong, setUp)]),
        ...(channel.remarks?.(account) ?? []),
      ];
      if (subject.isOffline) {
        const untried = channel.untried(account);
        return untried === null ? others : [ok(area, untried), ...others];
      }
      const trial = await channel.tryAccount(account);
      if (trial === null) return others;
      const { message, findings = [] } = trial;
      const first = trial.ok
        ? channelStateFinding(subject, area, message)
        : problem(area, message, setUp);
      return [first, ...findings, ...others];
    },
  });
}

/** Reports the state that the running assistant last noted for a channel, after the findings about it. */
export function channelStateFinding({ dataDir }: Subject, area: string, found: string): Finding {
  const last = isRunning(dataDir) ? lastChannelState(dataDir, area) : null;
  if (last === null) return ok(area, found);
  const since = new Date(last.time).toLocaleString('sv');
  if (last.state === 'connected' && last.detail === null) {
    return ok(area, `${found}, connected since ${since}`);
  }
  const message = `${found}, but the channel is ${last.state} since ${since}. ${last.detail ?? ''}`;
  return problem(area, message.trim(), '`npx claw logs --level warn` tells more.');
}
