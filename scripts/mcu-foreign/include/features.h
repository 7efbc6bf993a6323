/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#pragma once
#define __GNUC_PREREQ(major, minor) (__GNUC__ > (major) || (__GNUC__ == (major) && __GNUC_MINOR__ >= (minor)))
