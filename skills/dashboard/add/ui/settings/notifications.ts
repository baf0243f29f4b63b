import { epoch } from '../live.ts';
import { get, post, wordsOf } from '../page.ts';
import { html, useEffect, useState, type VNode } from '../vendor.ts';

const t = wordsOf('settings');

type Push = { readonly key: string; readonly isOn: boolean };

/** Switches Web Push on and off, for this browser alone. */
export function NotificationsView(): VNode {
  const [push, setPush] = useState<Push | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const read = async () => setPush(await get<Push>('settings/push'));
  useEffect(() => void read(), [epoch.value]);
  const canTell = 'PushManager' in window && 'serviceWorker' in navigator;
  const change = async () => {
    setProblem(null);
    try {
      if (push?.isOn) await switchOff();
      else if (push !== null) await switchOn(push.key);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
    await read();
  };
  return html`<section><h2>${t('notifications')}</h2>
    ${
      canTell
        ? html`<label><input type="checkbox" checked=${push?.isOn === true} disabled=${push === null} onChange=${change} /> ${t('push')}</label>
          <p class="hint">${t('push-note')}</p>`
        : html`<p class="hint">${t('push-none')}</p>`
    }
    ${problem === null ? null : html`<p class="problem" role="alert">${problem}</p>`}</section>`;
}

async function switchOn(applicationServerKey: string): Promise<void> {
  if ((await Notification.requestPermission()) !== 'granted') throw new Error(t('push-denied'));
  const { pushManager } = await navigator.serviceWorker.ready;
  const subscription = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey });
  const { endpoint, keys } = subscription.toJSON();
  await post('settings/pushOn', { endpoint, p256dh: keys?.['p256dh'], auth: keys?.['auth'] });
}

async function switchOff(): Promise<void> {
  await post('settings/pushOff', {});
  const { pushManager } = await navigator.serviceWorker.ready;
  await (await pushManager.getSubscription())?.unsubscribe();
}
