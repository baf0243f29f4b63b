import { Command } from '../command.ts';
import { onLive } from '../live.ts';
import { get, quoted, wordsOf } from '../page.ts';
import { html, useEffect, useState, type VNode } from '../vendor.ts';

const t = wordsOf('chat');

type Models = {
  readonly now: { readonly name: string; readonly from: 'chat' | 'all' | 'settings' };
  readonly lists: readonly {
    readonly provider: string;
    readonly names: readonly string[];
    readonly problem: string | null;
  }[];
};

/** The model that answers in a chat, and its conversation: each with the command that changes it. */
export function ChatCommands({
  jid,
  name,
}: {
  readonly jid: string;
  readonly name: string;
}): VNode {
  const [models, setModels] = useState<Models | null>(null);
  const [wanted, setWanted] = useState('');
  const chat = quoted({ jid, name });
  useEffect(() => {
    const read = () => void get<Models>('chat/models', { jid }).then(setModels);
    read();
    return onLive((event) => event.kind === 'ended' && read());
  }, [jid]);
  const onInput = ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) =>
    setWanted(currentTarget.value.trim());
  const problems =
    models?.lists.flatMap(({ problem }) => (problem === null ? [] : [problem])) ?? [];
  return html`<div class="commands">
    <p>${t('model')}: ${models === null ? '…' : html`<code>${models.now.name}</code> <span class="tag">${t(`from-${models.now.from}`)}</span>`}</p>
    <div class="row"><label>${t('other-model')} <input type="text" list="models" maxlength="200" value=${wanted} onInput=${onInput} /></label>
      <datalist id="models">${models?.lists.flatMap(({ names }) => names.map((one) => html`<option key=${one} value=${one}></option>`))}</datalist>
      ${/^[^\s"]+$/.test(wanted) ? html`<${Command} line=${`model ${wanted} for ${chat}`} label=${t('choose-model')} />` : null}
      ${models?.now.from === 'chat' ? html`<${Command} line=${`model default for ${chat}`} label=${t('usual-model')} />` : null}</div>
    ${problems.map((problem) => html`<p class="hint">${problem}</p>`)}
    <div class="row"><${Command} line=${`reset ${chat}`} label=${t('new-conversation')} /></div>
  </div>`;
}
