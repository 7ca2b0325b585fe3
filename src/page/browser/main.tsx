import { render } from 'preact';
import 'uplot/dist/uPlot.min.css';
import './page.css';
import { App } from './app.tsx';

render(<App />, document.body);
