// SPDX-License-Identifier: MIT
// Event, threads and time ranges -> the samples that are counted.
import { lowerBound } from './data.js';

export class Chosen {
    constructor(profile, state) {
        this.profile = profile;
        this.event = state.event;
        this.threads = state.threads && state.threads.length ? new Set(state.threads) : null;
        this.threadOf = this.threads && profile.thread;
        this.ranges = state.ranges;
        const whole = [[0, profile.sampleCount]];
        this.spans =
            this.ranges.length && profile.sorted
                ? this.ranges.map(([a, b]) => [
                      lowerBound(profile.time, a),
                      lowerBound(profile.time, b + 0.5),
                  ])
                : whole;
        this.checkTime = this.ranges.length > 0 && !profile.sorted;
        // Samples are told apart by nothing but their time.
        this.takesAll =
            !this.threads && (this.event < 0 || this.event === profile.onlyEvent());
    }

    // Of all but the time.
    key() {
        return `${this.event} ${this.threads ? [...this.threads] : ''}`;
    }

    // All but the time.
    testAll(i) {
        return (
            (this.event < 0 || this.profile.event[i] === this.event) &&
            (!this.threads || this.threads.has(this.threadOf[i]))
        );
    }

    test(i) {
        if (
            this.checkTime &&
            !this.ranges.some(([a, b]) => this.profile.time[i] >= a && this.profile.time[i] <= b)
        )
            return false;
        return this.testAll(i);
    }
}
