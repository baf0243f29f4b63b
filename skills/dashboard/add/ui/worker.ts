// Runs in the browser beside the page: says that the assistant cannot be reached, and shows what it pushes. It keeps no
// page and no answer of the assistant.

type Worker = {
  readonly skipWaiting: () => Promise<void>;
  readonly registration: ServiceWorkerRegistration;
  readonly clients: {
    claim(): Promise<void>;
    openWindow(url: string): Promise<unknown>;
    matchAll(
      about: object,
    ): Promise<readonly (ServiceWorkerClient & { focus(): Promise<ServiceWorkerClient> })[]>;
  };
  addEventListener(kind: string, listener: (event: WorkerEvent) => void): void;
};
type ServiceWorkerClient = {
  readonly url: string;
  readonly focused: boolean;
  navigate(url: string): Promise<unknown>;
};
type WorkerEvent = {
  readonly request: Request;
  readonly data: { json(): Notice } | null;
  readonly notification: Notification;
  waitUntil(work: Promise<unknown>): void;
  respondWith(answer: Promise<Response>): void;
};
type Notice = { readonly title: string; readonly body: string; readonly place: string };

const worker = self as unknown as Worker;
const KEPT = 'claw-dashboard';
const OFFLINE = `/dashboard/ui/offline.${navigator.language.slice(0, 2)}.html`;
const STYLE = '/dashboard/ui/layout.css';

worker.addEventListener('install', (event) => {
  const kept = caches.open(KEPT).then((cache) => cache.addAll([OFFLINE, STYLE]));
  event.waitUntil(kept.then(() => worker.skipWaiting()));
});

worker.addEventListener('activate', (event) => event.waitUntil(worker.clients.claim()));

worker.addEventListener('fetch', (event) => {
  const { request } = event;
  const isStyle = new URL(request.url).pathname === STYLE;
  if (request.mode === 'navigate') event.respondWith(orKept(request, OFFLINE));
  else if (isStyle) event.respondWith(orKept(request, STYLE));
});

/** A proxy in front of an assistant that is down answers for it. */
async function orKept(request: Request, path: string): Promise<Response> {
  const answer = await fetch(request).catch(() => null);
  if (answer !== null && ![502, 503, 504].includes(answer.status)) return answer;
  return (await caches.match(path)) ?? answer ?? Response.error();
}

worker.addEventListener('push', (event) => event.waitUntil(show(event.data?.json())));

async function show(notice: Notice | undefined): Promise<void> {
  if (notice === undefined) return;
  const pages = await worker.clients.matchAll({ type: 'window' });
  // Whoever looks at the page has seen it.
  if (pages.some(({ focused }) => focused)) return;
  const { title, body, place } = notice;
  const icon = '/dashboard/ui/icon-192.png';
  await worker.registration.showNotification(title, { body, icon, tag: place, data: place });
}

worker.addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(open(`/dashboard#${event.notification.data}`));
});

async function open(address: string): Promise<void> {
  const [page] = await worker.clients.matchAll({ type: 'window' });
  if (page === undefined) await worker.clients.openWindow(address);
  else await page.focus().then((one) => one.navigate(address));
}
