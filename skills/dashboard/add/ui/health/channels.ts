import { Command } from '../command.ts';
import { epoch, keepFresh, type LiveEvent } from '../live.ts';
import { get, moment, wordsOf } from '../page.ts';
import { html, useEffect, useState, type VNode } from '../vendor.ts';
import { withCode } from './with-code.ts';

const t = wordsOf('health');

/** A channel as the assistant reports it; `src/host/channel-board.ts` says what each field means. */
type Channel = {
  readonly name: string;
  readonly state:
    | 'connected'
    | 'connecting'
    | 'unpaired'
    | 'refused'
    | 'failed'
    | 'stopped'
    | 'silent';
  readonly detail: string | null;
  readonly since: number | null;
  readonly hasSetUp: boolean;
  readonly canPair: boolean;
  readonly chats: number;
  readonly receivedAt: number | null;
  readonly sentAt: number | null;
};

/** All channels of the assistant, as they are at the moment. */
export function Channels(): VNode {
  const [channels, setChannels] = useState<readonly Channel[] | null>(null);
  useEffect(
    () =>
      keepFresh(changesChannels, async () =>
        setChannels(await get<readonly Channel[]>('health/channels')),
      ),
    [epoch.value],
  );
  return html`<section class="channels" aria-busy=${channels === null}><h2>${t('channels')}</h2>
    ${channels?.length === 0 ? html`<p class="hint">${t('no-channels')}</p>` : null}
    ${channels?.map((channel) => html`<${One} key=${channel.name} channel=${channel} />`)}
  </section>`;
}

/** A state is another one, or something came or went. */
function changesChannels({ kind }: LiveEvent): boolean {
  return kind === 'hello' || kind === 'status' || kind === 'chat';
}

function One({ channel }: { readonly channel: Channel }): VNode {
  const { name, state, detail, chats } = channel;
  const isWell = state === 'connected';
  // One that nobody uses is no trouble.
  const isIdle =
    state === 'connecting' || (chats === 0 && state !== 'failed' && state !== 'refused');
  const sign = isWell ? '✓' : isIdle ? '○' : '✗';
  return html`<article class="card"><div class="row"><span class=${isWell ? 'good' : isIdle ? 'hint' : 'bad'} aria-hidden="true">${sign}</span>
    <h3>${name}</h3><span class=${isWell ? 'good' : isIdle ? '' : 'bad'}>${t(`is-${state}`)}</span>
    ${chats === 0 ? null : html`<span class="tag push">${t(chats === 1 ? 'one-chat' : 'chats', { count: chats })}</span>`}</div>
    ${detail === null ? null : html`<p lang="en">${withCode(detail)}</p>`}
    ${factsOf(channel) === '' ? null : html`<p class="hint">${factsOf(channel)}</p>`}
    <${Help} channel=${channel} /></article>`;
}

function factsOf({ state, since, receivedAt, sentAt }: Channel): string {
  const facts = [
    [state === 'connected' ? 'connected-since' : 'away-since', since],
    ['received', receivedAt],
    ['sent', sentAt],
  ] as const;
  return facts
    .flatMap(([key, at]) => (at === null ? [] : [t(key, { at: moment(at) })]))
    .join(' · ');
}

/** What brings a channel back that waits for its owner, or was never set up. */
function Help({
  channel: { name, state, hasSetUp, canPair },
}: {
  readonly channel: Channel;
}): VNode | null {
  const isToLink = canPair && (state === 'unpaired' || state === 'stopped');
  const isToStart = state === 'failed' || state === 'refused' || state === 'stopped';
  const isToSetUp = hasSetUp && (state === 'unpaired' || state === 'refused' || state === 'silent');
  if (!isToLink && !isToStart && !isToSetUp) return null;
  return html`<div class="row">${isToLink ? html`<${Command} line=${`pair ${name}`} label=${t('pair')} />` : null}
    ${isToStart ? html`<${Command} line="restart" label=${t('restart')} />` : null}
    ${isToSetUp ? html`<span class="hint">${t('in-a-shell')} <code>npx claw setup ${name}</code></span>` : null}</div>`;
}
