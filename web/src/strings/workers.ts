/** Words of the panel of workers. */
export const workers = {
  workers: 'Workers',
  notSpread: 'this run is in one process: serve it with --workers',
  workersWaiting: 'The workers have not begun: start the run, or take a step.',
  workersUndivided: (why: string): string => `Not divided, because ${why}: one computes all of it.`,
  workersSummary: (workers: number, lost: number, epochs: number, again: number): string =>
    `${workers} ${workers === 1 ? 'worker' : 'workers'}, ${lost === 0 ? 'none' : lost} lost, ${epochs} ${
      epochs === 1 ? 'epoch' : 'epochs'
    }, ${again} ${again === 1 ? 'step' : 'steps'} taken again`,
  workerColumns: {
    worker: 'Worker',
    host: 'Host',
    bodies: 'Bodies',
    working: 'Working',
    waiting: 'Waiting',
    rate: 'To neighbours',
    widened: 'Widened',
    askedAgain: 'Asked again',
    state: 'State',
  },
  workerHere: (pid: number | null): string => (pid === null ? 'here' : `here, process ${pid}`),
  workerOn: (host: string, pid: number | null): string => (pid === null ? host : `${host}, process ${pid}`),
  perSecond: (bytes: string): string => `${bytes}/s`,
  workerLinks: 'Links',
  workerLinkColumns: { from: 'From', to: 'To', messages: 'Messages', bytes: 'Bytes' },
  heaviestRobots: 'Heaviest robots, µs per tick',
  heaviestColumns: {
    robot: 'Robot',
    worker: 'Worker',
    cost: 'All',
    sense: 'Sense',
    think: 'Think',
    act: 'Act',
    contact: 'Contacts',
  },
  prices: 'Programs on other hosts',
  priceColumns: { place: 'Host', answers: 'Answers', answer: 'Each', sent: 'Sent', received: 'Received' },
  micros: (n: string): string => `${n} µs`,
  notMeasured: 'Not measured yet.',
  workersScroll: 'Workers, links and the heaviest robots',
};
