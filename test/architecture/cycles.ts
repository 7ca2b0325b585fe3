/** Who imports whom; targets that are not keys are ignored. */
export type Graph = ReadonlyMap<string, readonly string[]>;

/** One cycle per strongly connected component, as the files along it; the last one imports the first. */
export function cycles(graph: Graph): readonly (readonly string[])[] {
  return components(graph).flatMap((component) => {
    const [start] = [...component].sort();
    const cycle = start === undefined ? undefined : shortestCycle(graph, start, new Set(component));
    return cycle === undefined ? [] : [cycle];
  });
}

/** Tarjan's strongly connected components. */
function components(graph: Graph): readonly (readonly string[])[] {
  const found: string[][] = [];
  const order = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const onStack = new Set<string>();

  const connect = (node: string): number => {
    const index = order.size;
    order.set(node, index);
    let lowest = index;
    stack.push(node);
    onStack.add(node);
    for (const next of graph.get(node) ?? []) {
      if (!graph.has(next)) continue;
      if (!order.has(next)) lowest = Math.min(lowest, connect(next));
      else if (onStack.has(next)) lowest = Math.min(lowest, order.get(next) ?? index);
    }
    low.set(node, lowest);
    if (lowest === index) {
      const component = stack.splice(stack.indexOf(node));
      for (const member of component) onStack.delete(member);
      found.push(component);
    }
    return lowest;
  };
  for (const node of graph.keys()) if (!order.has(node)) connect(node);
  return found;
}

function shortestCycle(graph: Graph, start: string, within: ReadonlySet<string>): readonly string[] | undefined {
  const paths: string[][] = [[start]];
  const seen = new Set<string>();
  for (let path = paths.shift(); path !== undefined; path = paths.shift()) {
    for (const next of graph.get(path.at(-1) ?? start) ?? []) {
      if (next === start) return path;
      if (!within.has(next) || seen.has(next)) continue;
      seen.add(next);
      paths.push([...path, next]);
    }
  }
  return undefined;
}
